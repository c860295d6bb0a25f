#include "stages.hpp"

#include "mlp.hpp"

#include <redco/run/worker.hpp>
#include <redco/nn/nn.hpp>
#include <redco/nn/opaque.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/layer/opaque.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/random/stream.hpp>
#include <redco/random/uniform.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Tests losses that draw random numbers before the call of the network, and opaque layers outside
// the blocks, on pipeline stages.

namespace stage_test {

namespace {

/// Returns true for about a third of the tokens of `ids`, [B, T], drawn by `numbers(row)`: a stream
/// for each row of the batch.
template <class Numbers>
at::Tensor drawn(at::Tensor const& ids, Numbers const& numbers) {
  at::Tensor const chosen = at::zeros(ids.sizes(), at::kBool);
  auto all = chosen.accessor<bool, 2>();
  for (std::int64_t row = 0; row < ids.size(0); ++row)
    for (std::int64_t k = 0; k < ids.size(1); ++k)
      all[row][k] = redco::random::below(numbers(row), static_cast<std::uint64_t>(k), 3) == 0;
  return chosen;
}

struct noisy_batch {
  at::Tensor ids, labels;
  at::Tensor replaced;  ///< true for tokens that collate replaces
};

/// Returns a job whose loss replaces random tokens before the call of the network, and after the
/// call counts the labels of the tokens that stay. Collate draws some of them for its examples, and
/// the loss draws the others for the step.
auto noisy() {
  return redco::collate([](std::span<std::int64_t const> examples, redco::pipelines::collate_info const& info) {
           redco::token_batch const plain = texts_of(examples);
           return noisy_batch{plain.input_ids, plain.labels,
                              drawn(plain.input_ids, [&](std::int64_t row) { return info.random(row); })};
         }) |
         redco::loss([](auto const& net, noisy_batch const& b) {
           redco::pass const& in = net.pass();
           std::int64_t const first = in.first_row(b.ids.size(0));
           at::Tensor const also = drawn(b.ids, [&](std::int64_t row) {
             return redco::random::make_stream(in.seed, redco::random::site_of("tokens"), in.step,
                                               static_cast<std::uint32_t>(first + row));
           });
           at::Tensor const keyed = drawn(b.ids, [&](std::int64_t row) {
             return in.at(redco::random::site_of("rows"), static_cast<std::uint32_t>(first + row));
           });
           at::Tensor const ids = b.ids.masked_fill(b.replaced.logical_or(also), 21);
           return redco::cross_entropy(net(ids.masked_fill(keyed, 22)), b.labels.masked_fill(also, -100));
         });
}

/// The results of four steps of five examples, in micro-batches of one or two examples.
template <class Model, class Pipeline>
run_test::outcome four_steps(Model const& model, Pipeline const& pipeline, redco::deployer_options where,
                             std::int64_t micro_batch = 2) {
  temporary_folder const folder;
  where.workdir = folder.path;
  run_test::options_of<Model, Pipeline> o;
  o.epochs = 2;
  o.max_steps = 4;
  o.global_batch = 5;
  o.micro_batch = micro_batch;
  o.save_last = false;
  o.save_argmin = {};
  return run_test::fit(where, model, pipeline, numbers(13), o, {.lr = 5e-3, .clip_norm = 0.5});
}

void check_equal(run_test::outcome const& one, run_test::outcome const& stages) {
  INFO(stages.reason);
  REQUIRE(stages.losses.size() == 4);
  CHECK(run_test::difference(one.losses, stages.losses) < 1e-10);
  CHECK(distance(one.state, stages.state) < 1e-10);
}

}  // namespace

TEST_CASE("a loss function that draws random numbers before its call of the network has equal values on all stages") {
  run_test::outcome const one = four_steps(tied, noisy(), in({}, {.dp = 1}));
  REQUIRE(one.losses.size() == 4);
  CHECK(run_test::difference(one.losses, four_steps(tied, language(), in({}, {.dp = 1})).losses) > 1e-3);
  for (mesh const& on : {mesh{.dp = 2}, {.pp = 2, .dp = 1}, {.pp = 2, .dp = 2}}) {
    INFO(name_of(on));
    check_equal(one, four_steps(tied, noisy(), in({}, on)));
  }
  redco::deployer_options chunks = in({}, {.pp = 2, .dp = 1});
  chunks.schedule = "interleaved";
  chunks.chunks_per_stage = 2;
  // Five micro-batches are no multiple of two stages, six are.
  CHECK(run_test::mentions(four_steps(tied, noisy(), chunks, 1), "a multiple of the 2 pipeline stages"));
  run_test::options_of<redco::gpt2, decltype(noisy())> o;
  o.epochs = 2;
  o.global_batch = 6;
  o.micro_batch = 1;
  auto const six = [&](redco::deployer_options where) {
    temporary_folder const folder;
    where.workdir = folder.path;
    return run_test::fit(where, tied, noisy(), numbers(12), o);
  };
  check_equal(six(in({}, {.dp = 1})), six(chunks));
}

TEST_CASE("stages run a model whose tokens are split over its shards like one rank") {
  redco::models::sequence_parallel<redco::gpt2> const split{tied.config};
  run_test::outcome const one = four_steps(tied, language(), in({}, {.dp = 1}));
  REQUIRE(one.losses.size() == 4);
  check_equal(one, four_steps(split, language(), in({}, {.pp = 2, .dp = 1, .tp = 2})));
}

namespace {

/// A user's module that owns its tensor: tanh(x + shift).
struct shifted {
  at::Tensor shift = at::arange(12, at::kDouble) / 10;

  std::vector<std::pair<std::string, at::Tensor>> named_parameters() { return {{"shift", shift}}; }
  at::Tensor forward(at::Tensor const& x) { return at::tanh(x + shift); }
};

/// A user's callable that lists its parameter: x * (1 + weight).
struct scaled {
  static constexpr std::array parameters{redco::layers::parameter_shape{"weight", {12}}};

  at::Tensor operator()(at::Tensor const& x, std::span<at::Tensor const> p) const { return x * (1 + p[0]); }
};

/// A user's callable that repeats each example as three tokens.
struct tripled {
  static constexpr std::array<redco::layers::parameter_shape, 0> parameters{};

  at::Tensor operator()(at::Tensor const& x, std::span<at::Tensor const>) const {
    return x.unsqueeze(1).expand({-1, 3, -1}).contiguous();
  }
};

/// A user's callable that returns the mean of the tokens.
struct averaged {
  static constexpr std::array<redco::layers::parameter_shape, 0> parameters{};

  at::Tensor operator()(at::Tensor const& x, std::span<at::Tensor const>) const { return x.mean(1); }
};

/// A classifier with two blocks between the callables `First` and `Last`.
template <class First, class Last>
using between = redco::model_of<redco::sequential<
    redco::named<"in", redco::linear<5, 12>>, redco::named<"first", redco::opaque<First>>,
    redco::named<"h", redco::repeat<2, redco::sequential<redco::named<"mlp", redco::linear<12, 12>>, redco::relu>>>,
    redco::named<"last", redco::opaque<Last>>, redco::named<"down", redco::linear<12, 3>>>>;

}  // namespace

TEST_CASE("stages run opaque layers outside the blocks like one rank") {
  run_test::outcome const one = four_steps(between<shifted, scaled>{}, run_test::mlp_pipeline(), in({}, {.dp = 1})),
                          swapped = four_steps(between<scaled, shifted>{}, run_test::mlp_pipeline(), in({}, {.dp = 1}));
  INFO(one.reason << swapped.reason);
  REQUIRE(one.losses.size() == 4);
  for (mesh const& on : {mesh{.pp = 2, .dp = 1}, {.pp = 2, .dp = 2}, {.pp = 2, .dp = 1, .tp = 2}}) {
    INFO(name_of(on));
    check_equal(one, four_steps(between<shifted, scaled>{}, run_test::mlp_pipeline(), in({}, on)));
    check_equal(swapped, four_steps(between<scaled, shifted>{}, run_test::mlp_pipeline(), in({}, on)));
  }
}

TEST_CASE("stages refuse hidden states of another shape than the layers declare") {
  CHECK(four_steps(between<tripled, averaged>{}, run_test::mlp_pipeline(), in({}, {.dp = 1})).code == 0);
  redco::deployer_options where = in({}, {.pp = 2, .dp = 1});
  where.deadline = 10;
  run_test::outcome const run = four_steps(between<tripled, averaged>{}, run_test::mlp_pipeline(), where);
  INFO(run.reason);
  CHECK(run.code == 64);
  CHECK(run_test::mentions(run,
                           "the hidden states after block 0 have the shape [2, 3, 12], and the layers declare "
                           "[2, 12]: with pipeline stages, an opaque layer must keep the shape"));
  CHECK(run.losses.empty());
}

TEST_CASE("a worker's loop is refused on pipeline stages in one sentence, before its first step") {
  silence const quiet;
  temporary_folder const folder;
  redco::deployer_options where = in(folder.path, {.pp = 2, .dp = 1});
  where.deadline = 10;
  redco::deployer deployer(where);
  std::string reason;
  try {
    deployer.run([&](redco::rank_context& rank) { redco::worker worker(deployer, rank, {.steps = 1}); });
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    reason = e.what();
  }
  CHECK(reason.find("a worker with pipeline stages: its steps are the program's own") != std::string::npos);
}

}  // namespace stage_test
