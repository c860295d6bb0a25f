// Bytes of a convolutional network whose model states its input, computed by hand. They depend on
// the size of the images.
#include <redco/cost/cost_of.hpp>
#include <redco/cost/fits.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/convolutions.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/pools.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/bytes.hpp>

#include <cstdint>

using namespace redco;

using net =
    sequential<conv2d<3, 8, 3, 1, 1>, relu, max_pool<2>, conv2d<8, 5, 3>, relu, flatten, linear<5 * 13 * 11, 10>>;
constexpr model_of<net, input<3, 30, 26>> images{};
constexpr std::int64_t batch = 64;
constexpr redco::cost::rank_cost c =
    redco::cost::cost_of<images>(sgd{}, {.mesh = {.dp = 1}, .load = {.batch = batch}, .prefetch = 0});

// Saved: relu's output, the maximum of each window and its index, relu's output again. The pixels
// belong to the batch.
constexpr std::int64_t kept = batch * (4 * 8 * 30 * 26 + (4 + 8) * 8 * 15 * 13 + 4 * 5 * 13 * 11);
static_assert(c.memory.activations == kept);
static_assert(c.memory.batches == batch * 4 * 3 * 30 * 26);
constexpr std::int64_t numbers = 8 * 3 * 9 + 8 + 5 * 8 * 9 + 5 + 10 * 5 * 13 * 11 + 10;
static_assert(c.memory.parameters == 4 * numbers && c.memory.gradients == 4 * numbers);

static_assert(c.memory.peak() >= c.memory.persistent() + kept);
static_assert(c.operations.forward == 2 * batch * (30 * 26 * 8 * 3 * 9 + 13 * 11 * 5 * 8 * 9 + 5 * 13 * 11 * 10));

static_assert(fits<images, sgd{}, mesh{.dp = 1, .tp = 1}, workload{.batch = batch}, redco::shape::MiB(32)>{});
