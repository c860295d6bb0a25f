// Attention splits its input itself, so it cannot take a split input.
#include <redco/layer/attention.hpp>

#include <type_traits>

#if REDCO_ACCEPT
static_assert(std::is_same_v<redco::layers::out_t<redco::causal_attention<8, 4>, redco::shape::replicated>,
                             redco::shape::partial>);
#else  // expect: redco[S008]
static_assert(sizeof(redco::layers::out_t<redco::causal_attention<8, 4>, redco::shape::split<-1> >) > 0);
#endif

int main() {}
