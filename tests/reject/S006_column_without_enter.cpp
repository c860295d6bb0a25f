// A layer that is declared column-parallel takes only the layout entered.
#include <redco/shard/plan.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#if REDCO_ACCEPT
constexpr redco::model_of<
    redco::sequential<redco::layers::enter_layer, redco::column_linear<8, 12>, redco::relu, redco::row_linear<12, 4>>>
    model{};
static_assert(redco::plan_of<model>({.dp = 1, .tp = 2}).entries.size() > 0);
#else  // expect: redco[S006]
constexpr redco::model_of<redco::sequential<redco::column_linear<8, 12>, redco::relu, redco::row_linear<12, 4>>>
    model{};
static_assert(redco::plan_of<model>({.dp = 1, .tp = 2}).entries.size() > 0);
#endif

int main() {}
