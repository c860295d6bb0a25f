// sequence_parallel splits the tokens at the first repeated block, and the model has none.
#include <redco/shard/plan.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

using mlp = redco::residual<redco::sequential<redco::linear<8, 12>, redco::relu, redco::linear<12, 8>>>;

#if REDCO_ACCEPT
constexpr redco::models::sequence_parallel<
    redco::model_of<redco::sequential<redco::layer_norm<8>, redco::repeat<2, mlp>>>>
    model{};
static_assert(redco::plan_of<model>({.dp = 1, .tp = 2}).entries.size() > 0);
#else  // expect: redco[L003]
constexpr redco::models::sequence_parallel<redco::model_of<redco::sequential<redco::layer_norm<8>, mlp>>> model{};
static_assert(redco::plan_of<model>({.dp = 1, .tp = 2}).entries.size() > 0);
#endif

int main() {}
