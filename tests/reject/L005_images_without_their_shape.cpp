// A convolution reads images, so the model must state their shape.
#include <redco/shard/legal.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/convolutions.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/pools.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

using net = redco::sequential<redco::conv2d<1, 8, 3>, redco::relu, redco::max_pool<2>, redco::flatten,
                              redco::linear<8 * 13 * 13, 10>>;

#if REDCO_ACCEPT
constexpr redco::model_of<net, redco::input<1, 28, 28>> model{};
#else  // expect: redco[L005]
constexpr redco::model_of<net> model{};
#endif
static_assert(redco::legal<model, redco::mesh{.dp = 2, .tp = 1}>{});

int main() {}
