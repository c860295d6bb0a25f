// A replicated layer needs all features.
#include <redco/layer/linear.hpp>

#include <type_traits>

#if REDCO_ACCEPT
static_assert(std::is_same_v<redco::layers::out_t<redco::layers::replicated_linear<8, 4>, redco::shape::replicated>,
                             redco::shape::replicated>);
#else  // expect: redco[S008]
static_assert(sizeof(redco::layers::out_t<redco::layers::replicated_linear<8, 4>, redco::shape::split<-1> >) > 0);
#endif

int main() {}
