// A router chooses at most as many experts for each token as there are.
#include <redco/shard/legal.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/experts.hpp>
#include <redco/layer/wrappers.hpp>

template <int Chosen>
using mlp = redco::layers::moe<redco::layers::experts<6, 64, 32>, redco::layers::top<Chosen>>;

#if REDCO_ACCEPT
constexpr redco::model_of<redco::residual<redco::named<"mlp", mlp<6>>>, redco::input<16, 64>> model{};
#else  // expect: redco[L012] in 9 lines with layer_has<6,
constexpr redco::model_of<redco::residual<redco::named<"mlp", mlp<7>>>, redco::input<16, 64>> model{};
#endif
static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 2}>{});

int main() {}
