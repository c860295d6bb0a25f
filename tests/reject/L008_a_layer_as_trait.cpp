// The traits of an attention are named types; a layer is none of them.
#include <redco/layer/attention.hpp>
#include <redco/layer/norms.hpp>

#if REDCO_ACCEPT
using attention = redco::full_attention<8, 4, redco::layers::unscaled>;
#else  // expect: redco[L008]
using attention = redco::full_attention<8, 4, redco::rms_norm<8> >;
#endif
static_assert(attention::form(0).head_dim == 2);

int main() {}
