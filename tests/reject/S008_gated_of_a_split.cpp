// A gated layer splits its input itself, so it cannot take a split input.
#include <redco/layer/linear.hpp>

#include <type_traits>

#if REDCO_ACCEPT
static_assert(std::is_same_v<redco::layers::out_t<redco::gated<8, 4>, redco::shape::entered>, redco::shape::split<-1>>);
#else  // expect: redco[S008]
static_assert(sizeof(redco::layers::out_t<redco::gated<8, 4>, redco::shape::split<-1>>) > 0);
#endif

int main() {}
