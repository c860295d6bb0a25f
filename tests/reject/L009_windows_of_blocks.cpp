// The global blocks of all patterns fill a window of attention evenly. The types in the message
// name the layer and both numbers.
#include <redco/shard/legal.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/wrappers.hpp>

template <int Patterns>
using attention = redco::causal_attention<64, 4, redco::layers::sparse_causal<16, 8, 1, Patterns>>;

#if REDCO_ACCEPT
constexpr redco::model_of<redco::residual<redco::named<"attn", attention<4>>>, redco::input<32, 64>> model{};
#else  // expect: redco[L009] in 9 lines with layer_divides<8, 3,
constexpr redco::model_of<redco::residual<redco::named<"attn", attention<3>>>, redco::input<32, 64>> model{};
#endif
static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 2}>{});

int main() {}
