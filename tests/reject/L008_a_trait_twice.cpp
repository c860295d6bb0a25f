// Each trait of an attention may be given once.
#include <redco/layer/attention.hpp>

#if REDCO_ACCEPT
using attention = redco::causal_attention<8, 4, redco::layers::biased<false>, redco::key_value_heads<2>>;
#else  // expect: redco[L008]
using attention = redco::causal_attention<8, 4, redco::layers::biased<false>, redco::layers::biased<true>>;
#endif
static_assert(attention::form(0).key_value_heads > 0);

int main() {}
