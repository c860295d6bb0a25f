// A replicated layer needs all features.
#include <redco/layer/linear.hpp>

#include <type_traits>

#if REDCO_ACCEPT
static_assert(std::is_same_v<redco::out_t<redco::replicated_linear<8, 4>, redco::replicated>, redco::replicated>);
#else  // expect: redco[S008]
static_assert(sizeof(redco::out_t<redco::replicated_linear<8, 4>, redco::split<-1> >) > 0);
#endif

int main() {}
