// Descending leaves fewer features than there are.
#include <redco/shard/legal.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/experts.hpp>
#include <redco/layer/wrappers.hpp>

template <int Tenths>
using mlp = redco::layers::moe<redco::layers::experts<6, 64, 32>, redco::layers::top<2>,
                               redco::layers::dispatch::dcca<redco::layers::real{Tenths / 10.0}>>;

#if REDCO_ACCEPT
constexpr redco::model_of<redco::residual<redco::named<"mlp", mlp<5>>>, redco::input<16, 64>> model{};
#else  // expect: redco[L012] in 9 lines with layer_has<64,
constexpr redco::model_of<redco::residual<redco::named<"mlp", mlp<15>>>, redco::input<16, 64>> model{};
#endif
static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 2}>{});

int main() {}
