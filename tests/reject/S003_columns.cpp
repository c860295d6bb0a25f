// Thirty columns can be split over 5 ranks, not over 4.
#include <redco/shard/legal.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

using net =
    redco::sequential<redco::layers::enter_layer, redco::column_linear<10, 30>, redco::relu, redco::row_linear<30, 4>>;
constexpr redco::model_of<net> model{};

#if REDCO_ACCEPT
static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 5}>{});
#else  // expect: redco[S003]
static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 4}>{});
#endif

int main() {}
