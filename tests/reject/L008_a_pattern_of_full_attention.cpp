// A pattern of blocks is a trait of causal attention.
#include <redco/layer/attention.hpp>

#if REDCO_ACCEPT
using attention = redco::causal_attention<8, 4, redco::layers::sparse_causal<16, 8>>;
#else  // expect: redco[L008]
using attention = redco::full_attention<8, 4, redco::layers::sparse_causal<16, 8>>;
#endif
static_assert(attention::form(0).key_value_heads > 0);

int main() {}
