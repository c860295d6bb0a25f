#include "nn/sharded.hpp"

#include <redco/layer/dropout.hpp>
#include <redco/layer/gelu.hpp>
#include <redco/layer/layer_norm.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/real.hpp>
#include <redco/layer/relu.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/residual.hpp>
#include <redco/layer/sequential.hpp>

#include <redco/shape/block_range.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

// Compares a cycle of blocks with the blocks written out one after another.

namespace repeat_test {

using namespace redco;

using pre_norm = residual<sequential<named<"n", layer_norm<4>>, named<"a", linear<4, 6>>, gelu, dropout<real{0.3}>,
                                     named<"b", linear<6, 4>>>>;
using post_norm = sequential<named<"a", linear<4, 12>>, relu, named<"b", linear<12, 4>>, named<"n", layer_norm<4>>>;

template <layer Blocks>
using net = sequential<named<"first", layer_norm<4>>, named<"h", Blocks>>;
using cycle = net<repeat<5, pre_norm, post_norm>>;
using written_out = net<sequential<named<"0", pre_norm>, named<"1", post_norm>, named<"2", pre_norm>,
                                   named<"3", post_norm>, named<"4", pre_norm>>>;

TEST_CASE("a cycle of blocks computes what they compute one after another, run again in backward or not") {
  at::Tensor const x = sharded::values_of("x", std::vector<std::int64_t>{3, 2, 4});
  for (bool const training : {false, true})
    for (int const width : {1, 2, 3}) {
      INFO("width " << width << ", training " << training);
      auto const wanted = sharded::on_width(sharded::maker_of<written_out>(), width, x, {.training = training});
      CHECK(wanted.gradients.size() == 2 + 3 * 6 + 2 * 6);
      for (bool const recompute : {false, true})
        sharded::check_equal(
            sharded::on_width(sharded::maker_of<cycle>(), width, x, {.training = training, .recompute = recompute}),
            wanted, 1e-15);
    }
}

/// Two rows of blocks. The first has random sites, so the sites of the second are numbered after
/// them.
using two_rows = model_of<sequential<named<"a", repeat<2, pre_norm>>, named<"b", repeat<3, pre_norm, post_norm>>>>;

struct ranges_outcome {
  /// Results of two calls, gradients of the input and of all parameters
  std::vector<at::Tensor> values;
  std::size_t parameters = 0;
  std::vector<std::size_t> of_range;  ///< number of parameters of each range
};

/// Trains the blocks of one range after another, each range in its own network over one common
/// store.
ranges_outcome in_ranges(std::vector<block_range> const& ranges, recomputed_blocks const& recompute) {
  ranges_outcome o;
  run_ranks({}, {}, [&](rank_context& rank) {
    parameter_store const store(shard::placed_parameters(plan_of(two_rows{}, rank.mesh)), 0, dtype::f64, 1);
    sharded::fill(store, 0);
    std::vector<pass> const passes(ranges.size(), training_pass(rank, 7, 3, {.recompute = recompute}));
    std::vector<bound_network<two_rows>> stages;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      auto const net = std::make_shared<network<two_rows> const>(two_rows{}, store, 0, rank.mesh, ranges[i]);
      o.parameters += net->parameters().size();
      o.of_range.push_back(net->parameters().size());
      stages.emplace_back(net, passes[i]);
    }
    for (int call = 0; call < 2; ++call) {
      std::vector<at::Tensor> inputs{sharded::values_of("x", std::vector<std::int64_t>{3, 2, 4})}, outputs;
      for (auto const& stage : stages) {
        inputs.back() = inputs.back().detach().requires_grad_();
        outputs.push_back(stage(inputs.back()));
        inputs.push_back(outputs.back());
      }
      at::Tensor gradient = outputs.back().detach().cos();
      for (std::size_t i = stages.size(); i-- > 0; gradient = inputs[i].grad()) outputs[i].backward(gradient);
      o.values.push_back(outputs.back().detach());
      o.values.push_back(inputs.front().grad());
    }
    o.values.push_back(store.gradients().clone());
  });
  return o;
}

TEST_CASE("ranges of blocks one after another are the whole model, to the bit, with dropout and in each call") {
  for (recomputed_blocks const& recompute : {recomputed_blocks(false), recomputed_blocks::every_kth(2)}) {
    ranges_outcome const whole = in_ranges({{}}, recompute);
    REQUIRE(whole.values.size() == 5);
    CHECK(!whole.values[0].equal(whole.values[2]));  // the second call drops other features
    for (std::vector<block_range> const& ranges : {std::vector<block_range>{{0, 2}, {2, 5}},
                                                   {{0, 1}, {1, 3}, {3, block_range::no_end}},
                                                   {{0, 4}, {4, 4}, {4, 5}}}) {
      ranges_outcome const staged = in_ranges(ranges, recompute);
      CHECK(staged.parameters == whole.parameters);  // each parameter belongs to one range
      for (std::size_t i = 0; i < ranges.size(); ++i)
        CHECK((staged.of_range[i] > 0) == (ranges[i].begin < ranges[i].end));
      REQUIRE(staged.values.size() == whole.values.size());
      for (std::size_t i = 0; i < whole.values.size(); ++i) CHECK(staged.values[i].equal(whole.values[i]));
    }
  }
}

}  // namespace repeat_test
