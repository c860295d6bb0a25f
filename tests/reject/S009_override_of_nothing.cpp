// An override must name a layer that the model has.
#include <redco/shard/keep_replicated.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

using net = redco::sequential<redco::named<"up", redco::linear<8, 12>>, redco::relu,
                              redco::named<"down", redco::linear<12, 4>>>;

#if REDCO_ACCEPT
constexpr redco::model_of<redco::shard::keep_replicated<net, "up">> model{};
static_assert(redco::plan_of<model>({.dp = 1, .tp = 2}).entries.size() == 4);
#else  // expect: redco[S009]
constexpr redco::model_of<redco::shard::keep_replicated<net, "upp">> model{};
static_assert(redco::plan_of<model>({.dp = 1, .tp = 2}).entries.size() == 4);
#endif

int main() {}
