// The gradient of an entered value is summed over the ranks. A replicated layer would add the same
// gradient once per rank.
#include <redco/layer/linear.hpp>

#if REDCO_ACCEPT
static_assert(sizeof(redco::layers::out_t<redco::column_linear<8, 8>, redco::shape::entered>) > 0);
#else  // expect: redco[S008]
static_assert(sizeof(redco::layers::out_t<redco::layers::replicated_linear<8, 8>, redco::shape::entered>) > 0);
#endif

int main() {}
