// One of the two files of a program that mixed.cmake compiles with different macros. The files call
// no function of the library: the headers alone must refuse to link.

#ifdef WITH_RANKS
#include <redco/comm/group.hpp>
#else
#include <redco/meta/nearest.hpp>
#endif

#ifdef WITH_MAIN
int main() {}
#endif
