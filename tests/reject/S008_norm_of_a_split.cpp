// A norm needs all features of a row.
#include <redco/shard/plan.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#if REDCO_ACCEPT
constexpr redco::model_of<redco::sequential<redco::layers::enter_layer, redco::column_linear<8, 12>,
                                            redco::row_linear<12, 4>, redco::layer_norm<4>>>
    model{};
static_assert(redco::plan_of<model>({.dp = 1, .tp = 2}).entries.size() > 0);
#else  // expect: redco[S008]
constexpr redco::model_of<
    redco::sequential<redco::layers::enter_layer, redco::column_linear<8, 12>, redco::layer_norm<12>>>
    model{};
static_assert(redco::plan_of<model>({.dp = 1, .tp = 2}).entries.size() > 0);
#endif

int main() {}
