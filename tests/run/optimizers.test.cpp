#include "language.hpp"

#include <redco/run/predictor.hpp>
#include <redco/run/trainer.hpp>
#include <redco/update/segment.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/cost/setup.hpp>
#include <redco/workdir/settings_of.hpp>
#include <redco/optimizer/groups.hpp>
#include <redco/optimizer/muon.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

// Runs with optimizers other than AdamW, and with groups of parameters, on several meshes.
namespace optimizer_runs {

namespace {

using redco::optimizer::grouped;
using run_test::in;
using run_test::tensors;

/// A language model of which meshes with 1, 2 and 4 model shards hold parts. Its 11 token ids need
/// padding.
redco::gpt2 const model{{.vocab = 11, .context = 16, .width = 8, .heads = 4, .layers = 2}};

using language_options = run_test::options_of<redco::gpt2, decltype(run_test::language())>;

struct finished_run {
  tensors state;
  redco::options::metric_map evaluation;
  std::int64_t state_bytes = 0;  ///< Bytes of the optimizer's state on rank 0
};

language_options options_of_steps(std::int64_t steps) {
  language_options o;
  o.epochs = 2;
  o.max_steps = steps;
  o.global_batch = 4;
  o.eval = run_test::numbers(3);
  return o;
}

/// Fits the model to eight examples in steps of four, and returns the whole state.
template <class Rule>
finished_run run(Rule const& rule, redco::deployer_options const& where, std::int64_t steps = 4) {
  run_test::silence const quiet;
  redco::deployer deployer(where);
  redco::trainer trainer(deployer, model, run_test::language(), rule);
  auto const result = trainer.fit(run_test::numbers(8), options_of_steps(steps));
  finished_run done{run_test::whole_state(trainer.states()), result.evaluation};
  for (redco::update::segment const& segment : trainer.states()[0]->segments)
    for (at::Tensor const& slot : segment.slots) done.state_bytes += static_cast<std::int64_t>(slot.nbytes());
  return done;
}

/// Returns the largest difference of two states, relative to the largest value of each tensor.
double difference_of(tensors const& a, tensors const& b) {
  REQUIRE(!a.empty());
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (auto const& [name, tensor] : a) {
    CAPTURE(name);
    REQUIRE(b.contains(name));
    double const scale = std::max(tensor.abs().max().item<double>(), 1e-3);
    double const here = (tensor - b.at(name)).abs().max().item<double>() / scale;
    REQUIRE(std::isfinite(here));
    worst = std::max(worst, here);
  }
  return worst;
}

/// Requires that runs on several meshes equal the run on one rank, and that a stopped and resumed
/// run equals an unbroken one bit for bit. Requires also that the plan counts the bytes of the
/// optimizer's state. Returns the run on one rank.
template <class Rule>
finished_run check_meshes(Rule const& rule, std::vector<redco::mesh> const& meshes, double bound = 1e-10) {
  temporary_folder const folder;
  finished_run const alone = run(rule, in(folder.path / "alone"));
  for (redco::mesh const& mesh : meshes) {
    CAPTURE(mesh.dp, mesh.tp);
    std::string const name = std::to_string(mesh.dp) + "x" + std::to_string(mesh.tp);
    finished_run const split = run(rule, in(folder.path / name, mesh));
    REQUIRE(difference_of(alone.state, split.state) < bound);
    redco::cost::setup const planned{.mesh = mesh, .load = {4, 9}, .compute = redco::dtype::f64};
    REQUIRE(split.state_bytes == redco::cost::cost_of(model, rule, planned).memory.optimizer);
    redco::deployer_options resumed = in(folder.path / ("resumed_" + name), mesh);
    resumed.resume = "auto";
    run(rule, resumed, 3);
    REQUIRE(run_test::bit_equal(run(rule, resumed).state, split.state));
  }
  return alone;
}

std::vector<redco::mesh> const two_ranks{{.dp = 2}, {.tp = 2}};

TEST_CASE("groups of parameters train alike on every mesh, each with its own rate and weight decay") {
  grouped const rule(redco::adamw{.lr = 0.02},
                     {{.pattern = "wte.*", .rate = 0.0},
                      {.pattern = "h.1.*", .rate = 0.5},
                      {.pattern = "*.bias", .weight_decay = 0.5}},
                     0.8);
  tensors const grouped_state = check_meshes(rule, two_ranks).state;
  temporary_folder const folder;
  tensors const plain = run(redco::adamw{.lr = 0.02}, in(folder.path)).state,
                start = run(redco::adamw{.lr = 0.0}, in(folder.path / "start")).state;
  CHECK(at::equal(grouped_state.at("wte.weight"), start.at("wte.weight")));
  CHECK(!at::equal(plain.at("wte.weight"), start.at("wte.weight")));
  CHECK(!at::equal(grouped_state.at("h.1.attn.q.weight"), plain.at("h.1.attn.q.weight")));
  CHECK(grouped_state.contains("optimizer.exp_avg.wte.weight"));
}

TEST_CASE("the groups of parameters are settings of a run") {
  auto const all = redco::workdir::settings_of(
      model, grouped(redco::adamw{}, {{.pattern = "*.bias", .rate = 0.5}}, 0.75), redco::dtype::f64);
  CHECK(all.at("optimizer") == "adamw");
  CHECK(all.at("optimizer.weight_decay") == "0.01");
  CHECK(all.at("optimizer.groups[0].pattern") == "*.bias");
  CHECK(all.at("optimizer.groups[0].rate") == "0.5");
  CHECK(all.at("optimizer.groups[0].weight_decay") == "none");
  CHECK(all.at("optimizer.layer_decay") == "0.75");
}

TEST_CASE("Lion trains alike on every mesh") {
  // The gradient of a key's bias is zero up to rounding. Lion takes only its sign, so it is not
  // trained here.
  check_meshes(grouped(redco::optimizer::lion{.lr = 0.01, .weight_decay = 0.1, .clip_norm = 1},
                       {{.pattern = "*.k.bias", .rate = 0.0}}),
               two_ranks);
}

TEST_CASE("AdEMAMix and schedule-free AdamW train alike on every mesh") {
  check_meshes(redco::optimizer::ademamix{.lr = 0.01, .beta3 = 0.99, .warmup = 2, .weight_decay = 0.1}, two_ranks);
  check_meshes(redco::optimizer::schedule_free{.lr = {.peak = 0.02, .warmup = 2}}, two_ranks);
}

TEST_CASE("Muon trains alike on every mesh, and gathers what the plan says") {
  std::vector<redco::mesh> const meshes{{.dp = 2}, {.tp = 2}, {.tp = 4}, {.dp = 2, .tp = 2}};
  redco::optimizer::muon const rule{.lr = 0.02, .clip_norm = 1};
  tensors const state = check_meshes(rule, meshes).state;
  CHECK(state.contains("optimizer.momentum_buffer.h.0.attn.q.weight"));
  CHECK(!state.contains("optimizer.exp_avg.h.0.attn.q.weight"));
  CHECK(state.contains("optimizer.exp_avg.wte.weight"));
  CHECK(state.contains("optimizer.exp_avg.h.0.attn.q.bias"));
  check_meshes(redco::optimizer::averaged(grouped(rule, {{.pattern = "h.0.*", .rate = 0.5}}), 0.9), {{.tp = 2}});

  run_test::silence const quiet;
  for (redco::mesh const& mesh : meshes) {
    temporary_folder const folder;
    redco::deployer deployer(in(folder.path, mesh));
    redco::trainer trainer(deployer, model, run_test::language(), rule);
    language_options o = options_of_steps(2);
    o.micro_batch = 1;
    auto const result = trainer.verify(run_test::numbers(8), o);
    CAPTURE(mesh.dp, mesh.tp, result.text());
    CHECK(result.ok());
    CHECK(result.messages_remark.empty());
  }
}

TEST_CASE("Adafactor trains alike on every mesh, with state per row and column, and sends what the plan says") {
  std::vector<redco::mesh> const meshes{{.dp = 2}, {.tp = 2}, {.tp = 4}, {.dp = 2, .tp = 2}};
  // The gradient of a key's bias is zero up to rounding, and Adafactor divides it by its size.
  redco::optimizer::grouped const rule(redco::optimizer::adafactor{.weight_decay = 0.1, .clip_norm = 1},
                                       {{.pattern = "*.k.bias", .rate = 1e-6}});
  tensors const state = check_meshes(rule, meshes).state;
  CHECK(state.at("optimizer.exp_avg_sq_row.h.0.attn.q.weight").dim() == 1);
  CHECK(state.at("optimizer.exp_avg_sq_row.wte.weight").size(0) == state.at("wte.weight").size(0));
  CHECK(state.at("optimizer.exp_avg_sq_col.wte.weight").size(0) == state.at("wte.weight").size(1));
  CHECK(!state.contains("optimizer.exp_avg_sq.wte.weight"));
  CHECK(state.contains("optimizer.exp_avg_sq.h.0.attn.q.bias"));
  check_meshes(
      redco::optimizer::averaged(redco::optimizer::adafactor{.lr = 0.02, .relative_step = false, .beta1 = 0.8}, 0.9),
      {{.tp = 2}}, 1e-6);
  run_test::silence const quiet;
  temporary_folder const folder;
  redco::deployer deployer(in(folder.path, {.dp = 2, .tp = 2}));
  // --verify does not compare updates that follow from the noise of a key's bias.
  redco::trainer trainer(deployer, model, run_test::language(),
                         redco::optimizer::adafactor{.weight_decay = 0.1, .clip_norm = 1});
  language_options o = options_of_steps(2);
  o.micro_batch = 1;
  auto const result = trainer.verify(run_test::numbers(8), o);
  CAPTURE(result.text());
  CHECK(result.ok());
  CHECK(result.messages_remark.empty());
}

TEST_CASE("a checkpoint of factored state is resumed on another mesh") {
  temporary_folder const folder;
  redco::optimizer::adafactor const rule{.clip_norm = 1};
  tensors const whole = run(rule, in(folder.path / "whole", {.tp = 2}), 3).state;
  for (redco::mesh const& mesh : {redco::mesh{.tp = 4}, redco::mesh{.dp = 2}, redco::mesh{}}) {
    CAPTURE(mesh.dp, mesh.tp);
    std::filesystem::path const copy = folder.path / ("copy" + std::to_string(mesh.dp) + std::to_string(mesh.tp));
    std::filesystem::copy(folder.path / "whole", copy,
                          std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
    redco::deployer_options where = in(copy, mesh);
    where.resume = "auto";
    CHECK(run_test::bit_equal(run(rule, where, 3).state, whole));
  }
}

TEST_CASE("a trainer updates by the rule that the command line's flags choose") {
  temporary_folder const folder;
  auto const state = [&](auto const& rule, char const* name) { return run(rule, in(folder.path / name), 2).state; };
  redco::training_flags flags{.warmup = 1, .lr = 0.02, .rule = redco::optimizer::rule_kind::muon, .momentum = 0.7};
  redco::linear_decay const rate{.peak = 0.02, .warmup = 1};
  CHECK(run_test::bit_equal(
      state(flags, "muon_flags"),
      state(redco::optimizer::muon{.lr = rate, .momentum = 0.7, .weight_decay = 0.01, .clip_norm = 1}, "muon")));
  flags.rule = redco::optimizer::rule_kind::schedule_free, flags.momentum.reset();
  CHECK(run_test::bit_equal(
      state(flags, "free_flags"),
      state(redco::optimizer::schedule_free{.lr = {.peak = 0.02, .warmup = 1}, .weight_decay = 0.01, .clip_norm = 1},
            "free")));
  auto const all = redco::workdir::settings_of(model, flags.optimizer(), redco::dtype::f64);
  CHECK(all.at("optimizer") == "schedule_free");
  CHECK(all.at("optimizer.weight_decay") == "0.01");
  flags.momentum = 0.5;
  CHECK(run_test::code_of([&] { state(flags, "refused"); }) == 64);
}

TEST_CASE("Muon refuses a model without repeated blocks") {
  run_test::silence const quiet;
  temporary_folder const folder;
  redco::deployer deployer(in(folder.path));
  redco::trainer trainer(deployer, run_test::mlp{}, run_test::mlp_pipeline(), redco::optimizer::muon{});
  run_test::mlp_options o;
  o.global_batch = 4;
  CHECK(run_test::code_of([&] { trainer.fit(run_test::numbers(8), o); }) == 64);
}

TEST_CASE("evaluations, predictions and saved models use the average of the parameters on request") {
  auto const rule_of = [](bool evaluates) {
    return redco::optimizer::averaged(redco::adamw{.lr = 0.3}, 0.8, evaluates);
  };
  tensors const state = check_meshes(redco::optimizer::averaged(redco::adamw{.lr = 0.02}, 0.8), two_ranks).state;
  CHECK(state.contains("optimizer.average.h.0.attn.q.weight"));
  CHECK(!at::equal(state.at("optimizer.average.wte.weight"), state.at("wte.weight")));

  run_test::silence const quiet;
  run_test::mlp_options o;
  o.global_batch = 4;
  o.max_steps = 6;
  o.epochs = 3;
  o.eval = run_test::numbers(13);
  std::vector<double> losses;
  std::vector<std::vector<std::int64_t>> outputs;
  for (bool const evaluates : {true, false}) {
    temporary_folder const folder;
    redco::deployer deployer(in(folder.path, {.tp = 2}));
    redco::trainer trainer(deployer, run_test::mlp{}, run_test::mlp_pipeline(), rule_of(evaluates));
    losses.push_back(trainer.fit(run_test::numbers(13), o).evaluation.at("loss"));
    tensors const trained = run_test::whole_state(trainer.states());
    outputs.push_back(redco::predictor(trainer).predict(run_test::numbers(13), 4));
    trainer.save_model(folder.path / "model");
    CHECK(run_test::bit_equal(run_test::whole_state(trainer.states()), trained));

    redco::deployer again(in(folder.path / "again"));
    redco::trainer saved(again, run_test::mlp{}, run_test::mlp_pipeline(), redco::sgd{.lr = 0.0});
    saved.start_from(folder.path / "model");
    CHECK(saved.fit(run_test::numbers(13), o).evaluation.at("loss") == Approx(losses.back()).epsilon(1e-12));
    CHECK(redco::predictor(saved).predict(run_test::numbers(13), 4) == outputs.back());
    std::string const prefix = evaluates ? "optimizer.average." : "";
    for (auto const& [name, value] : run_test::whole_state(saved.states()))
      CHECK(at::equal(value, trained.at(prefix + name)));
  }
  CHECK(losses[0] != losses[1]);
  CHECK(outputs[0] != outputs[1]);
}

TEST_CASE("an average and its request are settings of a run") {
  auto const all = redco::workdir::settings_of(
      model, grouped(redco::optimizer::averaged(redco::sgd{}, 0.75, false), {}, 0.5), redco::dtype::f64);
  CHECK(all.at("optimizer.momentum") == "0");
  CHECK(all.at("optimizer.average_decay") == "0.75");
  CHECK(all.at("optimizer.evaluates_average") == "false");
  CHECK(all.at("optimizer.layer_decay") == "0.5");
}

}  // namespace

}  // namespace optimizer_runs
