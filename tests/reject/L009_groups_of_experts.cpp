// All groups of a router have the same number of experts. The types in the message name the layer
// and both numbers.
#include <redco/shard/legal.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/experts.hpp>
#include <redco/layer/wrappers.hpp>

template <int Groups>
using mlp = redco::layers::moe<redco::layers::experts<6, 64, 32>, redco::layers::top<2>, redco::layers::dispatch::cdac,
                               redco::layers::routing::group_limited<Groups, 2>>;

#if REDCO_ACCEPT
constexpr redco::model_of<redco::residual<redco::named<"mlp", mlp<3>>>, redco::input<16, 64>> model{};
#else  // expect: redco[L009] in 9 lines with layer_divides<6, 4,
constexpr redco::model_of<redco::residual<redco::named<"mlp", mlp<4>>>, redco::input<16, 64>> model{};
#endif
static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 2}>{});

int main() {}
