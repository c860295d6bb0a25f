// gelu of the addends is not the gelu of their sum.
#include <redco/layer/activations.hpp>

#include <type_traits>

#if REDCO_ACCEPT
static_assert(std::is_same_v<redco::layers::out_t<redco::gelu, redco::shape::split<-1>>, redco::shape::split<-1>>);
#else  // expect: redco[S005]
static_assert(sizeof(redco::layers::out_t<redco::gelu, redco::shape::partial>) > 0);
#endif

int main() {}
