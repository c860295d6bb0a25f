#include "language.hpp"

#include <redco/run/trainer.hpp>
#include <redco/workdir/settings_of.hpp>
#include <redco/optimizer/groups.hpp>
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
};

/// Fits the model to eight examples in steps of four, and returns the whole state.
template <class Rule>
finished_run run(Rule const& rule, redco::deployer_options const& where, std::int64_t steps = 4) {
  run_test::silence const quiet;
  redco::deployer deployer(where);
  redco::trainer trainer(deployer, model, run_test::language(), rule);
  language_options o;
  o.epochs = 2;
  o.max_steps = steps;
  o.global_batch = 4;
  o.eval = run_test::numbers(3);
  auto const result = trainer.fit(run_test::numbers(8), o);
  return {run_test::whole_state(trainer.states()), result.evaluation};
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
/// run equals an unbroken one bit for bit. Returns the run on one rank.
template <class Rule>
finished_run check_meshes(Rule const& rule, std::vector<redco::mesh> const& meshes, double bound = 1e-10) {
  temporary_folder const folder;
  finished_run const alone = run(rule, in(folder.path / "alone"));
  for (redco::mesh const& mesh : meshes) {
    CAPTURE(mesh.dp, mesh.tp);
    std::string const name = std::to_string(mesh.dp) + "x" + std::to_string(mesh.tp);
    finished_run const split = run(rule, in(folder.path / name, mesh));
    REQUIRE(difference_of(alone.state, split.state) < bound);
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

}  // namespace

}  // namespace optimizer_runs
