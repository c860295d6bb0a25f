#include "nn/sharded.hpp"

#include <redco/comm/thread_world.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/adapt/plan/low_rank_adapted.hpp>

#include <cstdint>
#include <memory>
#include <vector>

// Tests every layer that draws in training. The numbers are keyed by the global row, position,
// feature, call and step. They do not depend on the shard of a rank, the micro-batch of a row, or
// recomputation.

namespace random_sites_test {

using namespace redco;
using sharded::on_width;
using sharded::outcome;
using sharded::values_of;

constexpr lora_options dropping{.rank = 2, .alpha = 3, .dropout = 0.4, .targets = "q,v,o,up,down"};
constexpr lora_options dropping_tokens{.rank = 2, .alpha = 3, .dropout = 0.4, .targets = "r,gate,up"};

// Sites whose input is split by tokens: plain dropout, and adapters of weights that every rank
// holds.
using of_tokens = sequential<redco::layers::split_tokens, dropout<redco::layers::real{0.3}>,
                             named<"r", redco::layers::replicated_linear<6, 5>>,
                             named<"g", gated<5, 6, silu, true, redco::layers::cut::replicated>>>;
// Sites whose input is split by features or heads: after a column-parallel layer, attention
// probabilities, row-parallel adapters.
using mlp =
    sequential<named<"up", linear<6, 12>>, gelu, dropout<redco::layers::real{0.3}>, named<"down", linear<12, 6>>>;
using of_features =
    sequential<residual<causal_attention<6, 6, redco::layers::attention_dropout<redco::layers::real{0.2}>>>,
               residual<mlp>>;
template <layer Net>
using blocks = named<"h", repeat<2, Net>>;

at::Tensor tokens() { return values_of("x", std::vector<std::int64_t>{3, 7, 6}); }

template <class Net>
outcome trained(int width, bool recompute = false) {
  return on_width(sharded::maker_of<model_of<Net, input<7, 6>>>(), width, tokens(),
                  {.training = true, .recompute = recompute});
}
template <class Net>
void check_widths() {
  outcome const one = trained<Net>(1);
  for (int const width : {2, 3}) {
    INFO("width " << width);
    sharded::check_equal(trained<Net>(width), one);
  }
}

TEST_CASE("the first row of packed rows of a replica is that of no other replica") {
  redco::pass const second = redco::pass{}.with_examples(16, 16);
  CHECK(second.first_row(16) == 16);
  CHECK(second.first_row(32) == 32);
  CHECK(second.first_row(3) == 3);  // three rows hold 16 examples
  CHECK(redco::pass{}.with_examples(4, 0).first_row(8) == 4);
}

TEST_CASE("dropout and adapters drop the elements of one rank on split tokens") {
  check_widths<of_tokens>();
  check_widths<redco::adapt::low_rank_adapted<dropping_tokens, of_tokens>>();
}

TEST_CASE("dropout and adapters drop the elements of one rank on split features and heads") {
  check_widths<of_features>();
  check_widths<redco::adapt::low_rank_adapted<dropping, of_features>>();
  check_widths<redco::adapt::low_rank_adapted<dropping, sequential<redco::layers::split_tokens, of_features>>>();
}

TEST_CASE("a recomputed block drops equal elements in both runs on each shard") {
  using net = redco::adapt::low_rank_adapted<dropping, blocks<of_features>>;
  outcome const plain = trained<net>(1);
  for (int const width : {1, 2, 3}) {
    INFO("width " << width);
    sharded::check_equal(trained<net>(width, true), plain);
  }
}

TEST_CASE("evaluation drops nothing: dropout is the identity, and adapters read their whole input") {
  using plain_mlp =
      sequential<named<"up", linear<6, 12>>, gelu, dropout<redco::layers::real{0.0}>, named<"down", linear<12, 6>>>;
  using plain = sequential<residual<causal_attention<6, 6>>, residual<plain_mlp>>;
  constexpr lora_options keeping{.rank = 2, .alpha = 3, .targets = "q,v,o,up,down"};
  outcome const expected =
      on_width(sharded::maker_of<model_of<redco::adapt::low_rank_adapted<keeping, plain>, input<7, 6>>>(), 1, tokens());
  for (int const width : {1, 2}) {
    INFO("width " << width);
    sharded::check_equal(
        on_width(sharded::maker_of<model_of<redco::adapt::low_rank_adapted<dropping, of_features>, input<7, 6>>>(),
                 width, tokens()),
        expected);
  }
}

/// Returns the output for `examples` examples of a step, of `rows` rows each, from example `first`
/// on, in the `call`-th call.
template <class Net>
at::Tensor part(at::Tensor const& all, std::int64_t first, std::int64_t examples, std::int64_t rows, int call = 1) {
  using model = model_of<Net, input<7, 6>>;
  at::Tensor result;
  redco::comm::run_ranks({.dp = 1}, {}, [&](rank_context& rank) {
    redco::nn::parameter_store const store(shard::placed_parameters(plan_of(model{}, rank.mesh)), 0, dtype::f64, 1);
    sharded::fill(store, 0);
    auto const net = std::make_shared<redco::nn::network<model> const>(model{}, store, 0, rank.mesh);
    pass const in = redco::nn::training_pass(rank, 7, 3).with_examples(first, examples);
    bound_network<model> const bound(net, in);
    while (call-- > 0) result = bound(all.narrow(0, first * rows, examples * rows));
  });
  return result.detach();
}

TEST_CASE("several rows of an example are keyed by the example, so micro-batches drop as the whole batch") {
  using net = redco::adapt::low_rank_adapted<dropping, of_features>;
  for (std::int64_t const rows : {1, 3}) {
    at::Tensor const all = values_of("x", std::vector<std::int64_t>{5 * rows, 7, 6});
    at::Tensor const whole = part<net>(all, 0, 5, rows);
    CHECK(at::allclose(part<net>(all, 0, 2, rows), whole.narrow(0, 0, 2 * rows), 0, 1e-13));
    CHECK(at::allclose(part<net>(all, 2, 3, rows), whole.narrow(0, 2 * rows, 3 * rows), 0, 1e-13));
    // The second call draws other numbers
    CHECK_FALSE(at::allclose(part<net>(all, 0, 2, rows), part<net>(all, 0, 2, rows, 2), 0, 1e-3));
  }
}

}  // namespace random_sites_test
