#include "language.hpp"

#include "at_once.hpp"
#include "comm/values.hpp"

#include <redco/run/gradient_buckets.hpp>
#include <redco/run/training_step.hpp>
#include <redco/text/batches.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/gradient_watch.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/layer/norms.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/adapt/plan/with_lora.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// Checks that gradients that are summed over the replicas during backward have the bits of those
// summed after it.

namespace overlap_test {

using namespace redco;
using comm_test::must;
using run_test::in;
using run_test::language;
using run_test::numbers;
using run_test::outcome;
using run_test::tied;

constexpr double mebi = 1024 * 1024;

/// Runs a job with gradients summed after backward, and with buckets of these bytes that are summed
/// during backward. Compares losses and state bit for bit.
template <class Model, class Pipeline>
void check_same_bits(Model const& model, Pipeline const& pipeline, run_test::options_of<Model, Pipeline> const& options,
                     deployer_options where, std::int64_t examples, std::vector<double> const& bytes) {
  outcome first;
  for (std::size_t i = 0; i <= bytes.size(); ++i) {
    temporary_folder folder;
    where.workdir = folder.path;
    where.overlap = i > 0;
    where.gradient_bucket = i > 0 ? bytes[i - 1] / mebi : 4;
    outcome const run =
        run_test::fit(where, model, pipeline, numbers(examples), options, {.lr = 3e-3, .clip_norm = 0.5});
    INFO(run.reason << " in buckets of " << where.gradient_bucket * mebi << " bytes");
    REQUIRE(run.code == 0);
    if (i == 0) first = run;
    CHECK(run.losses == first.losses);
    CHECK(run_test::bit_equal(run.state, first.state));
  }
}

TEST_CASE("a run has equal losses and parameters to the last bit with and without overlap") {
  for (mesh const& on : {mesh{.dp = 2}, {.dp = 3}, {.dp = 2, .tp = 2}, {.tp = 3}, {.pp = 2, .dp = 2}})
    for (dtype const type : {dtype::f64, dtype::bf16})
      for (std::int64_t const micro :
           type == dtype::f64 ? std::vector<std::int64_t>{0, 2} : std::vector<std::int64_t>{1}) {
        INFO(on.dp << "x" << on.tp << ", " << on.pp << " stages, micro-batch " << micro << ", " << name_of(type));
        // 11 examples, 5 at a time: the last step of an epoch has one example, and some replicas
        // have none. The fourth step begins another epoch.
        run_test::options_of<gpt2, decltype(language())> o;
        o.epochs = 2;
        o.max_steps = 4;
        o.global_batch = 5;
        o.micro_batch = micro;
        o.save_last = false;
        deployer_options where = in({}, on);
        where.dtype = type;
        where.recompute = micro == 1;
        check_same_bits(tied, language(), o, where, 11,
                        type == dtype::f64 ? std::vector<double>{8, 1'000} : std::vector<double>{200, 1e6});
      }
}

TEST_CASE("frozen parameters, adapters, losses of several terms and batch norm have equal bits with overlap") {
  for (mesh const& on : {mesh{.dp = 2}, {.dp = 3}, {.dp = 2, .tp = 2}, {.tp = 2}}) {
    INFO(on.dp << "x" << on.tp);
    run_test::options_of<gpt2, decltype(language())> o;
    o.epochs = 3;
    o.global_batch = 5;
    o.save_last = false;
    o.frozen = {"h.0.*", "wpe.*"};
    check_same_bits(tied, language(), o, in({}, on), 11, {104});

    run_test::options_of<with_lora<gpt2>, decltype(language())> adapted;
    adapted.epochs = 3;
    adapted.global_batch = 5;
    adapted.save_last = false;
    check_same_bits(with_lora<gpt2>{{tied.config, {.rank = 2, .targets = "q,v,down"}}}, language(), adapted, in({}, on),
                    11, {104});

    struct normed {
      using net = sequential<named<"in", linear<5, 12, false>>, named<"norm", batch_norm<12>>, relu,
                             named<"up", linear<12, 6>>, relu, named<"down", linear<6, 3>>>;
      no_config config;
      constexpr extents input(workload const& load) const { return {load.batch, 5}; }
    };
    auto const two_terms = run_test::mlp_collate() | loss([](auto const& net, run_test::mlp_batch const& b) {
                             at::Tensor const y = net(b.x), each = run_test::losses_of(y, b);
                             return terms{{{"class", {each.sum(), static_cast<double>(b.labels.size(0))}, 1},
                                           {"size", {(y * y).sum(), static_cast<double>(y.numel())}, 0.1}}};
                           });
    run_test::options_of<normed, decltype(two_terms)> several;
    several.epochs = 2;
    several.global_batch = 4;  // 14 examples: the last batch has two, so a third replica has none
    check_same_bits(normed{}, two_terms, several, in({}, on), 14, {104});
    run_test::options_of<normed, decltype(run_test::mlp_pipeline())> rounds;
    rounds.epochs = 2;
    rounds.global_batch = 10;
    rounds.micro_batch = 2;
    check_same_bits(normed{}, run_test::mlp_pipeline(), rounds, in({}, on), 14, {104});
  }
}

/// The network of one rank in a world, and its loss.
struct subject {
  explicit subject(rank_context& me)
      : state(run_test::mlp{}, plan_of(run_test::mlp{}, me.mesh), sgd{.lr = 0.1}, dtype::f64, 3, me.rank, {}),
        in(redco::nn::evaluation_pass(me)) {
    batch = run_test::mlp_batch_of(std::vector<std::int64_t>{4 * me.rank, 4 * me.rank + 1});
  }
  mean loss() const { return {run_test::losses_of(state.in(in)(batch.x), batch).sum(), 2}; }

  redco::run::trained_network<run_test::mlp> state;
  redco::pass in;
  run_test::mlp_batch batch;
};

error failure_of(mesh const& on, std::function<void(rank_context&)> const& f) {
  try {
    redco::comm::run_ranks(on, {.first_deadline = std::chrono::seconds(200), .threads = 1}, f);
  } catch (error const& failure) {
    return failure;
  }
  return error(exit_code::done, "nothing failed");
}

TEST_CASE("the last layer's gradients are summed before backward reaches the first layer") {
  std::atomic<bool> summed{false};
  auto const result = failure_of({.dp = 2}, [&](rank_context& me) {
    subject one(me);
    me.dp.reset_counters();
    redco::run::training_step step(one.state, me, false, 64);
    at::Tensor const first_layer = one.state.network().parameters().front();
    must(first_layer.data_ptr() == one.state.store.find("up.weight")->value.data_ptr(), "the first layer's weight");
    // Runs before the gradient is added to the flat gradient
    first_layer.register_hook([&](at::Tensor const& g) {
      if (me.rank == 1) {
        // Needs what rank 0 has sent, whose backward waits for this rank
        me.lane(redco::shape::batch_axes).wait();
        must(me.dp.counters().total().calls >= 1, "something was sent");
        summed = true;
      }
      auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(100);
      while (!summed && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      must(summed, "the other rank has sums while this one's backward runs");
      return g;
    });
    step.expect_last();
    step.add(one.loss());
    step.finish(0, 1, false);
  });
  INFO(result.what());
  CHECK(result.code() == exit_code::done);
}

TEST_CASE("only the last loss of a step sends gradients, and a user's own watch stays in place") {
  auto const result = failure_of({.dp = 2}, [&](rank_context& me) {
    std::vector<at::Tensor> after;
    for (int const how : {0, 1, 2}) {  // after backward, during backward, with another watch
      subject one(me);
      int seen = 0;
      std::optional<redco::nn::gradient_watch> own;
      if (how == 2) own.emplace(one.state.network(), [&](parameter) { ++seen; });
      redco::run::training_step step(one.state, me, false, how == 0 ? 0 : 40);
      step.add(one.loss());
      step.expect_last();
      step.add(one.loss());
      must(!redco::nn::gradient_watch::on(one.state.network()) || how == 2, "the step's watch has ended");
      step.finish(0, 1, false);
      must(seen == (how == 2 ? 8 : 0), "the ends of four parameters, twice");
      after.push_back(one.state.store.values().clone());
      must(at::equal(after.front(), after.back()), "the parameters are equal");
    }
  });
  INFO(result.what());
  CHECK(result.code() == exit_code::done);
}

TEST_CASE("a bucket that cannot be summed ends all ranks, wherever they are") {
  auto const failure = failure_of({.dp = 2}, [&](rank_context& me) {
    subject one(me);
    redco::run::training_step step(one.state, me, false, me.rank == 0 ? 64 : 80);
    step.expect_last();
    step.add(one.loss());
    if (me.rank == 1) me.world.recv(at::empty({1}), 0, 5);  // no rank sends it
    step.finish(0, 1, false);
  });
  CHECK(failure.code() == exit_code::internal);
  CHECK(comm_test::mentions(failure, "ranks disagree in call 1 of group dp lane for 'gradients'"));
}

TEST_CASE("a gradient that ends twice is an error, not a wrong sum") {
  auto const failure = failure_of({.dp = 2}, [&](rank_context& me) {
    subject one(me);
    run::gradient_buckets buckets(one.state.network(), me, 64);
    buckets.end({0});
    buckets.end({0});
  });
  CHECK(comm_test::mentions(failure, "ends a gradient twice"));
}

TEST_CASE("an exception in a user's function ends ranks whose gradients are in flight") {
  run_test::behaviour how;
  how.loss = [](at::Tensor const& each, run_test::mlp_batch const& b) {
    if (b.ids.eq(7).any().item<bool>()) throw std::runtime_error("seven has no loss");
    return each.sum();
  };
  for (mesh const& on : {mesh{.dp = 2}, {.dp = 3}, {.dp = 2, .tp = 2}}) {
    temporary_folder folder;
    deployer_options where = in(folder.path, on);
    where.overlap = true;
    where.gradient_bucket = 64 / mebi;
    run_test::mlp_options o;
    o.epochs = 4;
    o.global_batch = 4;
    wait_clock const clock;
    outcome const run = run_test::fit_mlp(where, o, 13, how);
    CHECK(clock.at_once());
    CHECK(run.code == 70);
    CHECK(run_test::mentions(run, "seven has no loss"));
  }
  temporary_folder folder;
  deployer_options where = in(folder.path, {.dp = 2});
  where.overlap = true;
  how.loss = [](at::Tensor const& each, run_test::mlp_batch const&) { return each.sum() * std::nan(""); };
  CHECK(run_test::fit_mlp(where, {}, 13, how).code == 79);
}

TEST_CASE("a step counts as many messages as its plan has buckets") {
  for (std::int64_t const bytes : {0, 8, 504, 1'000'000}) {
    INFO(bytes << " bytes");
    mesh const on{.dp = 2, .tp = 2};
    temporary_folder folder;
    run_test::silence const quiet;
    deployer_options where = in(folder.path, on);
    where.overlap = bytes > 0;
    if (bytes > 0) where.gradient_bucket = static_cast<double>(bytes) / mebi;
    deployer here(where);
    trainer one(here, tied, language(), adamw{});
    fit_result const result =
        one.fit(numbers(12), {.max_steps = 3, .global_batch = 4, .save_last = false, .save_argmin = {}});
    redco::cost::setup const s{
        .mesh = on, .load = {.batch = 2, .sequence = 9}, .compute = dtype::f64, .zero = {.bucket = bytes}};
    cost::message_total const& planned = cost_of(tied, adamw{}, s).messages[cost::messages::gradients];
    CHECK(planned.calls == (bytes == 0 ? 1 : bytes == 1'000'000 ? 2 : (planned.payload_bytes + bytes - 1) / bytes));
    for (run::step_measure const& rank : result.measures) {
      redco::shape::traffic::entry const& counted =
          rank.over(redco::shape::axis::dp)[redco::shape::collective::all_reduce];
      CHECK(counted.calls == planned.calls);
      CHECK(counted.payload_bytes == planned.payload_bytes);
      CHECK(counted.wire_bytes == planned.wire_bytes);
    }
  }
}

}  // namespace overlap_test
