#include "nn/sharded.hpp"

#include <redco/nn/watches.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/fact/path.hpp>

#include <redco/shape/blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

// Compares a cycle of blocks with the blocks written out one after another.

namespace repeat_test {

using namespace redco;

using pre_norm = residual<sequential<named<"n", layer_norm<4>>, named<"a", linear<4, 6>>, gelu,
                                     dropout<redco::layers::real{0.3}>, named<"b", linear<6, 4>>>>;
using post_norm = sequential<named<"a", linear<4, 12>>, relu, named<"b", linear<12, 4>>, named<"n", layer_norm<4>>>;

template <layer Blocks>
using net = sequential<named<"first", layer_norm<4>>, named<"h", Blocks>>;
using cycle = net<repeat<5, pre_norm, post_norm>>;
using written_out = net<sequential<named<"0", pre_norm>, named<"1", post_norm>, named<"2", pre_norm>,
                                   named<"3", post_norm>, named<"4", pre_norm>>>;

TEST_CASE("a cycle of blocks equals its blocks in sequence, with and without recomputation") {
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
template <model M = two_rows>
ranges_outcome in_ranges(std::vector<redco::shape::block_range> const& ranges, recomputed_blocks const& recompute) {
  ranges_outcome o;
  redco::comm::run_ranks({}, {}, [&](rank_context& rank) {
    redco::nn::parameter_store const store(shard::placed_parameters(plan_of(M{}, rank.mesh)), 0, dtype::f64, 1);
    sharded::fill(store, 0);
    std::vector<pass> const passes(ranges.size(), redco::nn::training_pass(rank, 7, 3, {.recompute = recompute}));
    std::vector<bound_network<M>> stages;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      auto const net = std::make_shared<redco::nn::network<M> const>(M{}, store, 0, rank.mesh, ranges[i]);
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

TEST_CASE("consecutive ranges of blocks equal the whole model to the bit, with dropout and in each call") {
  for (recomputed_blocks const& recompute :
       {recomputed_blocks(false), recomputed_blocks::every_kth(2), recomputed_blocks::in_range({1, 3})}) {
    ranges_outcome const whole = in_ranges({{}}, recompute);
    REQUIRE(whole.values.size() == 5);
    CHECK(!whole.values[0].equal(whole.values[2]));  // the second call drops other features
    for (std::vector<redco::shape::block_range> const& ranges :
         {std::vector<redco::shape::block_range>{{0, 2}, {2, 5}},
          {{0, 1}, {1, 3}, {3, redco::shape::block_range::no_end}},
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

TEST_CASE("a recomputed range of blocks gives equal bits, with dropout and on each mesh") {
  ranges_outcome const once = in_ranges({{}}, false);
  for (recomputed_blocks const& recompute :
       {recomputed_blocks::in_range({0, 1}), recomputed_blocks::in_range({1, 2}), recomputed_blocks::in_range({2})}) {
    ranges_outcome const again = in_ranges({{}}, recompute);
    for (std::size_t i = 0; i < once.values.size(); ++i) CHECK(again.values[i].equal(once.values[i]));
  }
  at::Tensor const x = sharded::values_of("x", std::vector<std::int64_t>{3, 2, 4});
  for (int const width : {1, 2, 3}) {
    auto const plain =
        sharded::on_width(sharded::maker_of<cycle>(), width, x, {.training = true, .second_order = false});
    auto const some =
        sharded::on_width(sharded::maker_of<cycle>(), width, x,
                          {.training = true, .recompute = recomputed_blocks::in_range({1, 4}), .second_order = false});
    CHECK(some.y.equal(plain.y));
    CHECK(some.input_gradient.equal(plain.input_gradient));
    for (auto const& [name, gradient] : plain.gradients) CHECK(some.gradients.at(name).equal(gradient));
  }
}

/// Counts uses of each parameter.
struct counting final : redco::nn::parameter_watch {
  at::Tensor before_use(parameter which, at::Tensor const& value) override {
    ++uses[which.index];
    return value;
  }
  std::map<std::int32_t, int> uses;
};

/// The uses of "n.weight" in forward and backward in each block of a row, from its first block on.
template <model M>
std::string uses_in_blocks(redco::shape::block_range const& stage, recomputed_blocks const& recompute,
                           std::string const& row) {
  std::string text;
  redco::comm::run_ranks({}, {}, [&](rank_context& rank) {
    redco::nn::parameter_store const store(shard::placed_parameters(plan_of(M{}, rank.mesh)), 0, dtype::f64, 1);
    auto const net = std::make_shared<redco::nn::network<M> const>(M{}, store, 0, rank.mesh, stage);
    counting watch;
    pass in = redco::nn::training_pass(rank, 7, 3, {.recompute = recompute});
    in.watch = &watch;
    at::Tensor const x = sharded::values_of("x", std::vector<std::int64_t>{3, 2, 4}).requires_grad_();
    bound_network<M>(net, in)(x).sum().backward();
    for (int block = 0; redco::nn::stored_parameter const* p = store.find(row + std::to_string(block) + ".n.weight");
         ++block) {
      int uses = 0;
      for (std::size_t i = 0; i < net->parameters().size(); ++i)
        if (net->parameters()[i].data_ptr() == p->value.data_ptr()) uses = watch.uses[static_cast<std::int32_t>(i)];
      text += std::to_string(uses);
    }
  });
  return text;
}

TEST_CASE("exactly the blocks of a range run twice, by their numbers in the whole model") {
  using six = model_of<named<"h", repeat<6, pre_norm>>>;
  auto const range = [](std::int64_t begin, std::int64_t end) { return recomputed_blocks::in_range({begin, end}); };
  CHECK(uses_in_blocks<six>({}, false, "h.") == "111111");
  CHECK(uses_in_blocks<six>({}, range(2, 4), "h.") == "112211");
  CHECK(uses_in_blocks<six>({}, recomputed_blocks::first_n(2), "h.") == "221111");
  CHECK(uses_in_blocks<six>({}, recomputed_blocks::in_range({4}), "h.") == "111122");
  CHECK(uses_in_blocks<six>({2, 4}, range(3, 5), "h.") == "001200");
  CHECK(uses_in_blocks<six>({2, 5}, recomputed_blocks::every_kth(2), "h.") == "001210");
  // Each of several rows counts from 0, while a rank's blocks count over all rows.
  CHECK(uses_in_blocks<two_rows>({}, range(1, 2), "a.") == "12");
  CHECK(uses_in_blocks<two_rows>({}, range(1, 3), "b.") == "122");
  CHECK(uses_in_blocks<two_rows>({3, 5}, range(2, 5), "b.") == "012");
  CHECK(uses_in_blocks<two_rows>({3, 5}, range(2, 5), "a.") == "00");
}

/// Puts `post_norm` in the place of `pre_norm`.
struct normed_after {
  template <class L, fact::path>
  struct at : std::type_identity<L> {};
  template <fact::path Here>
  struct at<pre_norm, Here> : std::type_identity<post_norm> {};
};

TEST_CASE("rewritten blocks of a cycle keep their turns, numbers and parameters, also on ranks that run a range") {
  using rewritten = redco::layers::transform_blocks<cycle, "h", redco::shape::block_range{1, 3}, normed_after>;
  using hand = net<sequential<named<"0", pre_norm>, named<"1", post_norm>, named<"2", post_norm>, named<"3", post_norm>,
                              named<"4", pre_norm>>>;
  at::Tensor const x = sharded::values_of("x", std::vector<std::int64_t>{3, 2, 4});
  for (int const width : {1, 2, 3})
    for (recomputed_blocks const& recompute : {recomputed_blocks(false), recomputed_blocks::in_range({2, 4})})
      sharded::check_equal(
          sharded::on_width(sharded::maker_of<rewritten>(), width, x, {.training = true, .recompute = recompute}),
          sharded::on_width(sharded::maker_of<hand>(), width, x, {.training = true}), 1e-15);

  using rows = model_of<redco::layers::transform_blocks<redco::models::net_of<two_rows>, "b",
                                                        redco::shape::block_range{0, 2}, normed_after>>;
  auto const range = [](std::int64_t begin, std::int64_t end) { return recomputed_blocks::in_range({begin, end}); };
  ranges_outcome const whole = in_ranges<rows>({{}}, range(1, 3));
  for (std::vector<redco::shape::block_range> const& ranges :
       {std::vector<redco::shape::block_range>{{0, 2}, {2, 5}},
        {{0, 3}, {3, 4}, {4, redco::shape::block_range::no_end}}}) {
    ranges_outcome const staged = in_ranges<rows>(ranges, range(1, 3));
    CHECK(staged.parameters == whole.parameters);
    for (std::size_t i = 0; i < whole.values.size(); ++i) CHECK(staged.values[i].equal(whole.values[i]));
  }
  using six = model_of<redco::layers::transform_blocks<named<"h", repeat<6, pre_norm>>, "h",
                                                       redco::shape::block_range{1, 3}, normed_after>>;
  CHECK(uses_in_blocks<six>({}, range(2, 4), "h.") == "112211");
  CHECK(uses_in_blocks<six>({2, 5}, range(3, 6), "h.") == "001220");
}

}  // namespace repeat_test
