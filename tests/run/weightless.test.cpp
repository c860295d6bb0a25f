#include "mlp.hpp"

#include <redco/run/worker.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace weightless_test {

using run_test::in;
using run_test::mlp;
using run_test::mlp_batch;
using run_test::outcome;

/// A function that returns the weight of example `id` in update `step`.
using weight_function = std::function<double(std::int64_t id, std::uint64_t step)>;

/// Returns a job whose loss is the sum of the network's outputs: the gradient of the last bias is 1
/// if any example counts.
auto masked(weight_function const& weight_of) {
  return run_test::mlp_collate() | redco::loss([weight_of](auto const& net, mlp_batch const& b) {
           std::vector<double> weights;
           for (std::int64_t i = 0; i < b.ids.numel(); ++i)
             weights.push_back(weight_of(b.ids[i].item<std::int64_t>(), net.pass().step));
           at::Tensor const w = at::tensor(weights);
           return redco::mean{(net(b.x).sum(1) * w).sum(), w.sum().template item<double>()};
         });
}

using masked_options = run_test::options_of<mlp, decltype(masked({}))>;

masked_options four_at_once() {
  masked_options o;
  o.global_batch = 4;
  return o;
}

std::int64_t times(std::string const& text, std::string const& part) {
  std::int64_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

redco::adamw const plain{.lr = 0.02, .weight_decay = 0.5};

TEST_CASE("a step of weight 0 changes no parameter and no moment, and a warning names it") {
  for (redco::mesh const mesh : {redco::mesh{.dp = 1}, {.dp = 2}, {.tp = 2}}) {
    temporary_folder const folder;
    run_test::silence const quiet;
    redco::deployer deployer(in(folder.path, mesh));
    auto const pipeline = masked([](std::int64_t, std::uint64_t step) { return step == 1 || step == 2 ? 0.0 : 1.0; });
    run_test::trainer_of<mlp, decltype(masked({}))> trainer(deployer, {}, pipeline, plain);
    std::vector<run_test::tensors> states;
    std::vector<redco::fit_event> events;
    masked_options o = four_at_once();
    o.on_step = [&](redco::fit_event const& e) {
      events.push_back(e);
      run_test::tensors now;
      for (auto const& part : trainer.states().front()->parts()) now[part.name] = part.local.detach().clone();
      states.push_back(now);
    };
    redco::fit_result result;
    REQUIRE_NOTHROW(result = trainer.fit(run_test::numbers(16), o));
    REQUIRE(states.size() == 4);
    CHECK(run_test::bit_equal(states[0], states[1]));
    CHECK(run_test::bit_equal(states[0], states[2]));
    CHECK_FALSE(run_test::bit_equal(states[0], states[3]));
    CHECK(std::isnan(events[1].loss));
    CHECK(std::isfinite(events[3].loss));
    CHECK(std::isnan(result.losses[2]));
    CHECK(deployer.log().warnings() == 1);
    CHECK(times(content_of(folder.path / "log.txt"), "warning: step 2: nothing counted in the loss") == 1);
    std::istringstream rows(content_of(folder.path / "metrics.jsonl"));
    std::string row;
    std::getline(rows, row);
    std::getline(rows, row);
    CHECK(redco::json::parse_json(row, "row")["loss"].is_null());
  }
}

TEST_CASE("bias corrections count the updates that changed something") {
  // A constant gradient moves a parameter by the rate in each of Adam's updates, if the corrections
  // count updates.
  temporary_folder const folder;
  run_test::silence const quiet;
  redco::deployer deployer(in(folder.path, {.dp = 2}));
  auto const pipeline = masked([](std::int64_t, std::uint64_t step) { return step % 2 == 1 ? 0.0 : 1.0; });
  run_test::trainer_of<mlp, decltype(masked({}))> trainer(deployer, {}, pipeline,
                                                          redco::adamw{.lr = 0.02, .weight_decay = 0});
  std::vector<double> bias;
  masked_options o = four_at_once();
  o.on_step = [&](redco::fit_event const&) {
    bias.push_back(trainer.states().front()->store.find("down.bias")->master[0].item<double>());
  };
  trainer.fit(run_test::numbers(20), o);
  REQUIRE(bias.size() == 5);
  for (std::size_t step = 1; step < bias.size(); ++step)
    CHECK(bias[step] - bias[step - 1] == Approx(step % 2 == 1 ? 0 : -0.02).epsilon(1e-6));
}

TEST_CASE("the first, tenth and hundredth steps of weight 0 cause warnings") {
  temporary_folder const folder;
  masked_options o = four_at_once();
  o.epochs = 3;
  outcome const run = run_test::fit(in(folder.path), mlp{}, masked([](std::int64_t, std::uint64_t) { return 0.0; }),
                                    run_test::numbers(16), o);
  CHECK(run.code == 0);
  CHECK(run.losses.size() == 12);
  CHECK(run.warnings == 2);
  CHECK(run.log.find("step 10: nothing counted in the loss (its weight is 0), so no parameter was updated, for the "
                     "10th time") != std::string::npos);
  CHECK(run.log.find("train nan") == std::string::npos);
}

TEST_CASE("ranks and micro-batches of weight 0 do not change the mean") {
  auto const odd = [](std::int64_t id, std::uint64_t) { return id % 2 == 1 ? 0.0 : 1.0 + static_cast<double>(id % 3); };
  std::vector<double> expected;
  for (redco::mesh const mesh : {redco::mesh{.dp = 1}, {.dp = 4}, {.dp = 3}}) {
    for (std::int64_t const micro_batch : {0, 1}) {
      temporary_folder const folder;
      masked_options o = four_at_once();
      o.micro_batch = micro_batch;
      outcome const run = run_test::fit(in(folder.path, mesh), mlp{}, masked(odd), run_test::numbers(14), o);
      REQUIRE(run.code == 0);
      CHECK(run.warnings == 0);
      if (expected.empty()) expected = run.losses;
      CHECK(run_test::difference(run.losses, expected) < 1e-11);
    }
  }
}

TEST_CASE("an evaluation of weight 0 has no loss, causes a warning, and is never the best") {
  temporary_folder const folder;
  masked_options o = four_at_once();
  o.epochs = 2;
  o.eval = std::vector<std::int64_t>{100, 101, 102};
  outcome const run = run_test::fit(in(folder.path, {.dp = 2}), mlp{},
                                    masked([](std::int64_t id, std::uint64_t) { return id < 100 ? 1.0 : 0.0; }),
                                    run_test::numbers(8), o);
  REQUIRE(run.code == 0);
  CHECK(std::isnan(run.evaluation.at("loss")));
  CHECK(run.warnings == 2);
  CHECK(times(run.log, "warning: the evaluation after step 2 has no loss") == 1);
  CHECK(times(run.log, "evaluation after step 4: loss none") == 1);
  CHECK_FALSE(std::filesystem::exists(folder.path / "ckpts" / "min_loss"));
  CHECK_FALSE(std::filesystem::exists(folder.path / "min_metrics.json"));
  auto const results = redco::json::parse_json(content_of(folder.path / "eval_results_epoch1.json"), "results");
  CHECK(results["loss"].is_null());
  CHECK(content_of(folder.path / "metrics.jsonl").find("\"eval/loss\":null") != std::string::npos);
}

/// Returns a job with a likelihood and a second term, which counts if `counts` is true.
auto with_term(bool exists, bool counts) {
  return run_test::mlp_collate() | redco::loss([=](auto const& net, mlp_batch const& b) {
           at::Tensor const each = run_test::losses_of(net(b.x), b);
           auto const n = static_cast<double>(each.numel());
           redco::terms all{{{"likelihood", {each.sum(), n}, 1.0}}};
           if (exists) all.all.push_back({"rare", {each.square().sum() * std::nan(""), counts ? n : 0}, 0.5});
           return all;
         });
}

TEST_CASE("a loss term of weight 0 is no part of the loss, has no value and is never the best") {
  using term_options = run_test::options_of<mlp, decltype(with_term(true, true))>;
  temporary_folder const folder, alone;
  term_options o;
  o.global_batch = 4;
  o.eval = run_test::numbers(5);
  o.save_argmin = {"loss"};
  outcome const without =
      run_test::fit(in(alone.path, {.dp = 2}), mlp{}, with_term(false, false), run_test::numbers(10), o);
  o.save_argmin = {"loss", "rare"};
  std::vector<redco::fit_event> events;
  o.on_step = [&](redco::fit_event const& e) { events.push_back(e); };
  outcome const run =
      run_test::fit(in(folder.path, {.dp = 2}), mlp{}, with_term(true, false), run_test::numbers(10), o);
  REQUIRE(run.code == 0);
  CHECK(run.losses == without.losses);
  CHECK(run_test::bit_equal(run.state, without.state));
  CHECK(std::isnan(events.at(0).metrics.at("rare")));
  CHECK(run.evaluation.at("loss") == without.evaluation.at("loss"));
  CHECK(std::isnan(run.evaluation.at("rare")));
  CHECK(std::filesystem::exists(folder.path / "ckpts" / "min_loss"));
  CHECK_FALSE(std::filesystem::exists(folder.path / "ckpts" / "min_rare"));
  CHECK(run.warnings == 2);
  CHECK(times(run.log, "warning: step 1: nothing counted in the loss term \"rare\"") == 1);
  CHECK(times(run.log, "warning: the evaluation after step 3 has no rare") == 1);
}

TEST_CASE("a worker's update of weight 0 changes nothing in its network") {
  temporary_folder const folder;
  run_test::silence const quiet;
  redco::deployer deployer(in(folder.path, {.dp = 2}));
  deployer.run([&](redco::rank_context& rank) {
    redco::worker worker(deployer, rank, {.steps = 2});
    auto& net = worker.add("net", mlp{}, redco::adam{.lr = 0.25});
    redco::pass const in = worker.pass(0, 1);
    at::Tensor const x = at::ones({1, 5}, at::kDouble);
    auto const state = [&] {
      run_test::tensors now;
      for (auto const& part : net.parts()) now[part.name] = part.local.detach().clone();
      return now;
    };
    auto const before = state();
    auto const nothing = worker.update(net, {net.in(in)(x).sum() * 0, 0});
    bool const kept = run_test::bit_equal(state(), before) && nothing.weight == 0 && std::isnan(nothing.loss);
    double const bias = net.store.find("down.bias")->master[0].item<double>();
    worker.update(net, {net.in(in)(x).sum(), 1});
    double const moved = net.store.find("down.bias")->master[0].item<double>() - bias;
    if (!kept || std::abs(moved + 0.25) > 1e-6)
      throw std::runtime_error("does not hold: a quarter, but moved by " + std::to_string(moved));
    worker.end_step();
  });
  CHECK(deployer.log().warnings() == 1);
  CHECK(times(content_of(folder.path / "log.txt"), "step 1, network \"net\": nothing counted in the loss") == 1);
}

}  // namespace weightless_test
