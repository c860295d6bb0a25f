// Four key-value heads can be split over 2 or 4 ranks, or shared by 12 ranks; 3 ranks can do
// neither.
#include <redco/shard/legal.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/branches.hpp>

constexpr redco::model_of<redco::residual<redco::causal_attention<96, 12, redco::key_value_heads<4>>>> model{};

#if REDCO_ACCEPT
static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 12}>{});
#else  // expect: redco[S002]
static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 3}>{});
#endif

int main() {}
