// A repeated block must return the layout that it takes, because the next block takes it.
#include <redco/shard/plan.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

#if REDCO_ACCEPT
constexpr redco::model_of<
    redco::sequential<redco::repeat<3, redco::sequential<redco::linear<8, 12>, redco::relu, redco::linear<12, 8>>>>>
    model{};
static_assert(redco::plan_of<model>({.dp = 1, .tp = 2}).entries.size() > 0);
#else  // expect: redco[S007]
constexpr redco::model_of<
    redco::sequential<redco::repeat<3, redco::sequential<redco::layers::enter_layer, redco::column_linear<8, 8>>>>>
    model{};
static_assert(redco::plan_of<model>({.dp = 1, .tp = 2}).entries.size() > 0);
#endif

int main() {}
