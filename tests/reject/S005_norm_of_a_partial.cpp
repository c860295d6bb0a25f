// A norm needs the sum, not an addend.
#include <redco/layer/norms.hpp>

#include <type_traits>

#if REDCO_ACCEPT
static_assert(
    std::is_same_v<redco::layers::out_t<redco::layer_norm<8>, redco::shape::replicated>, redco::shape::replicated>);
#else  // expect: redco[S005]
static_assert(sizeof(redco::layers::out_t<redco::layer_norm<8>, redco::shape::partial>) > 0);
#endif

int main() {}
