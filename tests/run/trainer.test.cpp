#include "mlp.hpp"

#include <redco/run/predictor.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/shard/plan.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/model/model.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/json/parse.hpp>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <vector>

using run_test::behaviour;
using run_test::fit_mlp;
using run_test::in;
using run_test::mentions;
using run_test::mlp_options;
using run_test::outcome;

namespace {

mlp_options plain_mlp(int epochs = 2) {
  mlp_options o;
  o.epochs = epochs;
  o.global_batch = 4;
  return o;
}

redco::mesh const trainer_meshes[] = {{.dp = 1}, {.dp = 2}, {.dp = 3}, {.tp = 2}, {.tp = 3}, {.dp = 2, .tp = 2}};

}  // namespace

TEST_CASE("the first loss is the weighted mean over the whole global batch, for any mesh and micro-batch") {
  // One step over all 7 examples, compared with ATen on the initial parameters.
  mlp_options o = plain_mlp(1);
  o.global_batch = 7;
  temporary_folder start;
  mlp_options none = plain_mlp(0);
  auto const parameters = fit_mlp(in(start.path), none, 7).state;
  auto const b = run_test::mlp_batch_of(run_test::numbers(7));
  at::Tensor const logits = at::linear(at::relu(at::linear(b.x, parameters.at("up.weight"), parameters.at("up.bias"))),
                                       parameters.at("down.weight"), parameters.at("down.bias"));
  double const expected = ((run_test::losses_of(logits, b) * b.weights).sum() / b.weights.sum()).item<double>();
  for (redco::mesh const mesh : trainer_meshes) {
    for (std::int64_t const micro : {0, 1, 2}) {
      temporary_folder folder;
      o.micro_batch = micro;
      outcome const run = fit_mlp(in(folder.path, mesh), o, 7);
      REQUIRE(run.losses.size() == 1);
      CHECK(run.losses[0] == Approx(expected).epsilon(1e-12));
    }
  }
}

TEST_CASE("evaluation gives the weighted mean loss, one output per example and the user's metrics on every mesh") {
  std::vector<std::int64_t> const dev{12, 3, 5, 40, 8, 21, 33};
  for (std::size_t const count : {std::size_t{1}, std::size_t{7}}) {
    redco::options::metric_map first;
    for (redco::mesh const mesh : trainer_meshes) {
      INFO(count << " examples on " << mesh.dp << "x" << mesh.tp);
      temporary_folder folder;
      mlp_options o = plain_mlp();
      o.eval = std::vector<std::int64_t>(dev.begin(), dev.begin() + static_cast<std::ptrdiff_t>(count));
      o.save_argmax = {"right"};
      std::size_t seen = 0;
      o.metrics = [&](std::span<std::int64_t const> examples, std::span<std::int64_t const> outputs) {
        seen = examples.size();
        double right = 0, order = 0;
        for (std::size_t i = 0; i < examples.size(); ++i) {
          right += outputs[i] % 10 == (examples[i] * 7 + 1) % 3 ? 1 : 0;
          order += outputs[i] / 10 == examples[i] ? 1 : 0;
        }
        return redco::options::metric_map{{"right", right}, {"in_order", order}};
      };
      outcome const run = fit_mlp(in(folder.path, mesh), o);
      REQUIRE(run.code == 0);
      CHECK(seen == count);
      CHECK(run.evaluation.at("in_order") == static_cast<double>(count));
      if (first.empty()) first = run.evaluation;
      CHECK(run.evaluation.at("right") == first.at("right"));
      CHECK(run.evaluation.at("loss") == Approx(first.at("loss")).epsilon(1e-10));
      auto const outputs = redco::json::parse_json(content_of(folder.path / "outputs_epoch0.json"), "outputs");
      REQUIRE(outputs.size() == count);
      CHECK(outputs.back()["example"] == dev[count - 1]);
      CHECK(outputs.back()["output"].get<std::int64_t>() / 10 == dev[count - 1]);
      auto const results = redco::json::parse_json(content_of(folder.path / "eval_results_epoch1.json"), "results");
      CHECK(results["loss"].get<double>() == run.evaluation.at("loss"));
      CHECK(std::filesystem::exists(folder.path / "ckpts" / "max_right"));
      CHECK(std::filesystem::exists(folder.path / "max_metrics.json"));
    }
  }
}

TEST_CASE("training stops when the first watched metric does not improve") {
  for (redco::mesh const mesh : {redco::mesh{.dp = 1}, {.dp = 2, .tp = 2}}) {
    temporary_folder folder;
    mlp_options o = plain_mlp(20);
    o.eval = run_test::numbers(3);
    o.patience = 3;
    o.save_argmin = {"chosen", "loss"};
    int evaluations = 0;
    o.metrics = [&](auto, auto) { return redco::options::metric_map{{"chosen", evaluations++ == 2 ? 1.0 : 2.0}}; };
    outcome const run = fit_mlp(in(folder.path, mesh), o);
    // Evaluation 0 is the sanity check. Evaluation 2 has the best score; 3, 4 and 5 are not better.
    CHECK(run.code == 0);
    CHECK(run.losses.size() == 5 * 4);
    CHECK(run.log.find("no better") != std::string::npos);
    CHECK(redco::workdir::read_manifest(folder.path / "ckpts" / "min_chosen").step == 8);
  }
}

TEST_CASE("an evaluation every k steps updates the best metrics and saves within an epoch") {
  temporary_folder folder;
  mlp_options o = plain_mlp();
  o.eval = run_test::numbers(3);
  o.eval_every_steps = 3;
  int evaluations = 0;
  o.save_argmin = {"chosen"};
  o.metrics = [&](auto, auto) { return redco::options::metric_map{{"chosen", evaluations++ == 1 ? 1.0 : 2.0}}; };
  CHECK(fit_mlp(in(folder.path, {.dp = 2}), o).code == 0);
  CHECK(evaluations == 1 + 4);  // before training, after steps 3, 4, 6, 8
  redco::workdir::manifest const best = redco::workdir::read_manifest(folder.path / "ckpts" / "min_chosen");
  CHECK(best.step == 3);
  CHECK(best.epoch_position == 12);
}

TEST_CASE("frozen parameters do not change, and all other parameters do") {
  temporary_folder start, folder;
  auto const before = fit_mlp(in(start.path), plain_mlp(0)).state;
  for (redco::mesh const mesh : {redco::mesh{.dp = 1}, {.tp = 2}, {.dp = 2}}) {
    mlp_options o = plain_mlp();
    o.frozen = {"up.*"};
    auto const now = fit_mlp(in(folder.path, mesh), o).state;
    CHECK(at::equal(now.at("up.weight"), before.at("up.weight")));
    CHECK(at::equal(now.at("up.bias"), before.at("up.bias")));
    CHECK_FALSE(at::equal(now.at("down.weight"), before.at("down.weight")));
    CHECK_FALSE(now.contains("optimizer.exp_avg.up.weight"));
  }
}

TEST_CASE("a warm start takes the parameters of a file and begins at step one") {
  temporary_folder first, second, third;
  outcome const trained = fit_mlp(in(first.path), plain_mlp());
  mlp_options o = plain_mlp(0);
  o.warm_start = first.path / "ckpts" / "last" / "parameters-0of1.safetensors";
  REQUIRE(std::filesystem::exists(o.warm_start));
  outcome const warm = fit_mlp(in(second.path, {.tp = 2}), o);
  REQUIRE(warm.code == 0);
  for (char const* const name : {"up.weight", "up.bias", "down.weight", "down.bias"})
    CHECK(at::equal(warm.state.at(name), trained.state.at(name)));
  CHECK(warm.state.at("optimizer.exp_avg.up.weight").abs().max().item<double>() == 0);
  o.warm_start = first.path / "absent.safetensors";
  CHECK(fit_mlp(in(third.path), o).code == 65);
}

TEST_CASE("a user's own step replaces loss and backward") {
  temporary_folder folder, other;
  mlp_options o = plain_mlp();
  o.train_step = [](auto& step, auto const& net, run_test::mlp_batch const& b) {
    at::Tensor const each = run_test::losses_of(net(b.x), b) * b.weights;
    step.add(redco::mean{each.sum(), b.weights.sum().item<double>()});
  };
  CHECK(fit_mlp(in(folder.path, {.dp = 2}), o).losses == fit_mlp(in(other.path, {.dp = 2}), plain_mlp()).losses);
}

TEST_CASE("hooks see every step and epoch on rank 0, once") {
  temporary_folder folder;
  mlp_options o = plain_mlp();
  o.eval = run_test::numbers(3);
  o.config = R"({"lr": 0.02})";
  std::vector<std::int64_t> steps;
  std::vector<int> epochs;
  o.on_step = [&](redco::fit_event const& e) { steps.push_back(e.step); };
  o.on_epoch = [&](redco::fit_event const& e) {
    epochs.push_back(e.epoch);
    CHECK(e.metrics.contains("loss"));
  };
  CHECK(fit_mlp(in(folder.path, {.dp = 2, .tp = 2}), o).code == 0);
  CHECK(steps == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(epochs == std::vector<int>{0, 1});
  CHECK(redco::json::parse_json(content_of(folder.path / "config.json"), "config")["lr"] == 0.02);
}

TEST_CASE("collate gets the longest length of the global batch, and each example is seen once an epoch") {
  for (redco::mesh const mesh : {redco::mesh{.dp = 1}, {.dp = 3}}) {
    temporary_folder folder;
    std::mutex guard;
    std::multiset<std::int64_t> seen;
    std::map<std::uint64_t, std::set<std::int64_t>> lengths_of_step;
    std::map<std::uint64_t, std::int64_t> longest;
    behaviour how;
    how.collate = [&](std::span<std::int64_t const> ids, redco::pipelines::collate_info const& info) {
      std::lock_guard const lock(guard);
      lengths_of_step[info.step].insert(info.longest);
      for (std::int64_t const id : ids) {
        seen.insert(id);
        longest[info.step] = std::max(longest[info.step], 100 + id);
      }
    };
    mlp_options o = plain_mlp(1);
    o.micro_batch = 1;
    o.length = [](std::int64_t const& id) { return 100 + id; };
    CHECK(fit_mlp(in(folder.path, mesh), o, 13, how).code == 0);
    for (auto const& [step, lengths] : lengths_of_step) CHECK(lengths == std::set<std::int64_t>{longest[step]});
    CHECK(lengths_of_step.size() == 4);
    auto const all = run_test::numbers(13);
    CHECK(seen == std::multiset<std::int64_t>(all.begin(), all.end()));
  }
}

TEST_CASE("collate gets the longest length of an evaluation's batch") {
  temporary_folder folder;
  std::mutex guard;
  std::set<std::int64_t> longest;
  behaviour how;
  how.collate = [&](std::span<std::int64_t const> ids, redco::pipelines::collate_info const& info) {
    std::lock_guard const lock(guard);
    if (ids.front() >= 100) longest.insert(info.longest);
  };
  mlp_options o = plain_mlp(1);
  o.eval = std::vector<std::int64_t>{103, 109, 105};
  o.sanity_check = false;
  o.eval_predictions = true;
  o.length = [](std::int64_t const& id) { return id; };
  CHECK(fit_mlp(in(folder.path, {.dp = 2}), o, 13, how).code == 0);
  CHECK(longest == std::set<std::int64_t>{109});
}

TEST_CASE("a loss of several terms averages each by its own count, as one rank does") {
  auto const pipeline =
      run_test::mlp_collate() | redco::loss([](auto const& net, run_test::mlp_batch const& b) {
        at::Tensor const out = net(b.x), each = run_test::losses_of(out, b);
        at::Tensor const some = b.ids.remainder(4).eq(0).to(at::kDouble);
        return redco::terms{{{"nll", {(each * b.weights).sum(), b.weights.sum().template item<double>()}, 1.0},
                             {"square", {(out.square().sum(-1) * some).sum(), some.sum().template item<double>()}, 0.3},
                             {"watched", {out.sum(), static_cast<double>(out.numel())}, 0.0}}};
      });
  using several_options = run_test::options_of<run_test::mlp, std::remove_const_t<decltype(pipeline)>>;
  several_options o;
  o.epochs = 3;
  o.global_batch = 4;
  o.eval = std::vector<std::int64_t>{12};  // fewer examples than replicas
  o.save_argmin = {"square"};
  outcome first;
  for (redco::mesh const mesh : trainer_meshes) {
    INFO(mesh.dp << "x" << mesh.tp);
    temporary_folder folder;
    outcome const run = run_test::fit(in(folder.path, mesh), run_test::mlp{}, pipeline, run_test::numbers(13), o);
    INFO(run.reason);
    REQUIRE(run.code == 0);
    if (first.losses.empty()) first = run;
    CHECK(run_test::difference(first.losses, run.losses) < 1e-10);
    for (char const* const name : {"nll", "square", "watched", "loss"})
      CHECK(run.evaluation.at(name) == Approx(first.evaluation.at(name)).epsilon(1e-10));
    CHECK(run.evaluation.at("loss") ==
          Approx(run.evaluation.at("nll") + 0.3 * run.evaluation.at("square")).epsilon(1e-12));
    std::string const row = content_of(folder.path / "metrics.jsonl");
    CHECK(row.find("\"watched\":") != std::string::npos);
    // In some steps nothing counts in "square"
    for (char const* const name : {"loss", "nll", "watched"})
      CHECK(row.find("\"" + std::string(name) + "\":null") == std::string::npos);
  }
  temporary_folder folder;
  o.micro_batch = 1;
  CHECK(run_test::fit(in(folder.path), run_test::mlp{}, pipeline, run_test::numbers(13), o).code == 64);
  o.micro_batch = 0;
  o.eval_predictions = true;
  CHECK(run_test::fit(in(folder.path), run_test::mlp{}, pipeline, run_test::numbers(13), o).code == 64);
}

// One weight w and numbers x = 1 to 7, in one step of sgd. The mean of w x is 4 w; the mean of 2 w
// x over the even x is 8 w.
struct line_batch {
  at::Tensor x;
};
using line = redco::model_of<redco::named<"w", redco::linear<1, 1, false>>>;
auto const line_collate = redco::collate([](std::span<std::int64_t const> ids) {
  return line_batch{at::tensor(std::vector<double>(ids.begin(), ids.end()), at::kDouble).unsqueeze(1) + 1};
});
redco::mean mean_of(at::Tensor const& values) { return {values.sum(), static_cast<double>(values.numel())}; }

/// Returns the change of w in one step with rate 0.1, divided by the rate. Stores the gradient norm
/// that the step reports in `norm`.
template <class Pipeline>
double moved(Pipeline const& pipeline, redco::mesh const& on, double& norm,
             typename redco::trainer<line, Pipeline>::template options_for<std::int64_t> o = {}) {
  run_test::silence const quiet;
  temporary_folder folder;
  redco::deployer deployer(in(folder.path, on));
  redco::trainer trainer(deployer, line{}, pipeline, redco::sgd{.lr = 0.1});
  o.global_batch = 7;
  o.on_step = [&](redco::fit_event const& e) { norm = e.grad_norm; };
  double const before = redco::nn::parameter_store(redco::shard::placed_parameters(redco::plan_of(line{}, {.dp = 1})),
                                                   0, redco::dtype::f64, deployer.options().seed)
                            .find("w.weight")
                            ->value.template item<double>();
  trainer.fit(run_test::numbers(7), o);
  return (before - run_test::whole_state(trainer.states()).at("w.weight").template item<double>()) / 0.1;
}

TEST_CASE("the factor of each term of a loss is in its gradient") {
  auto const two = line_collate | redco::loss([](auto const& net, line_batch const& b) {
                     at::Tensor const y = net(b.x), even = b.x.remainder(2).eq(0);
                     return redco::terms{{{"all", mean_of(y), 0.3}, {"even", mean_of(y.masked_select(even) * 2), 2.5}}};
                   });
  auto const one = line_collate | redco::loss([](auto const& net, line_batch const& b) {
                     return redco::terms{{{"only", mean_of(net(b.x)), 0.25}}};
                   });
  auto const plain = line_collate | redco::loss([](auto const& net, line_batch const& b) { return mean_of(net(b.x)); });
  for (redco::mesh const& on : {redco::mesh{.dp = 1}, {.dp = 2}, {.dp = 3}, {.tp = 2}}) {
    INFO(on.dp << "x" << on.tp);
    double norm = 0;
    CHECK(moved(two, on, norm) == Approx(0.3 * 4 + 2.5 * 8).epsilon(1e-12));
    CHECK(norm == Approx(21.2).epsilon(1e-12));
    CHECK(moved(one, on, norm) == Approx(0.25 * 4).epsilon(1e-12));
    CHECK(norm == Approx(1).epsilon(1e-12));
    typename redco::trainer<line, std::remove_const_t<decltype(plain)>>::template options_for<std::int64_t> own;
    own.train_step = [](auto& step, auto const& net, line_batch const& b) {
      step.add(redco::terms{{{"only", mean_of(net(b.x)), 0.25}}});
    };
    CHECK(moved(plain, on, norm, own) == Approx(1).epsilon(1e-12));
    CHECK(norm == Approx(1).epsilon(1e-12));
    own.train_step = [](auto& step, auto const& net, line_batch const& b) {
      step.add(redco::terms{{{"a", mean_of(net(b.x)), 1}, {"b", mean_of(net(b.x)), 1}}});
    };
    CHECK(run_test::code_of([&] { moved(plain, on, norm, own); }) == 64);
  }
}

TEST_CASE("a scalar loss has the weight of its number of examples") {
  auto const pipeline = run_test::mlp_collate() | redco::loss([](auto const& net, run_test::mlp_batch const& b) {
                          return run_test::losses_of(net(b.x), b).mean();
                        });
  run_test::options_of<run_test::mlp, std::remove_const_t<decltype(pipeline)>> o;
  o.epochs = 3;
  o.global_batch = 5;
  std::vector<double> first;
  for (redco::mesh const mesh : trainer_meshes) {
    temporary_folder folder;
    o.micro_batch = mesh.dp == 2 ? 2 : 0;
    outcome const run = run_test::fit(in(folder.path, mesh), run_test::mlp{}, pipeline, run_test::numbers(13), o);
    REQUIRE(run.code == 0);
    if (first.empty()) first = run.losses;
    CHECK(run_test::difference(first, run.losses) < 1e-10);
  }
}

TEST_CASE("a predictor gives one result per example, in order, for any count on any mesh") {
  std::vector<std::int64_t> first;
  for (redco::mesh const mesh : trainer_meshes) {
    temporary_folder folder;
    run_test::silence const quiet;
    redco::deployer deployer(in(folder.path, mesh));
    run_test::trainer_of<run_test::mlp, decltype(run_test::mlp_pipeline())> trainer(
        deployer, {}, run_test::mlp_pipeline(), redco::adamw{.lr = 0.02});
    trainer.fit(run_test::numbers(13), plain_mlp());
    redco::predictor const predictor(trainer);
    for (std::int64_t const count : {0, 1, 7}) {
      auto const outputs = predictor.predict(run_test::numbers(count), 3);
      REQUIRE(outputs.size() == static_cast<std::size_t>(count));
      for (std::size_t i = 0; i < outputs.size(); ++i) CHECK(outputs[i] / 10 == static_cast<std::int64_t>(i));
      if (count < 7) continue;
      if (first.empty()) first = outputs;
      CHECK(outputs == first);
    }
  }
}

TEST_CASE("another fit of a trainer continues from its parameters and cannot freeze other ones") {
  temporary_folder folder;
  run_test::silence const quiet;
  redco::deployer deployer(in(folder.path));
  run_test::trainer_of<run_test::mlp, decltype(run_test::mlp_pipeline())> trainer(
      deployer, {}, run_test::mlp_pipeline(), redco::adamw{.lr = 0.02});
  std::vector<double> losses;
  mlp_options o = plain_mlp(1);
  o.on_step = [&](redco::fit_event const& e) { losses.push_back(e.loss); };
  trainer.fit(run_test::numbers(3), o);
  trainer.fit(run_test::numbers(3), o);
  REQUIRE(losses.size() == 2);
  CHECK(losses[1] < losses[0]);
  o.frozen = {"up.*"};
  CHECK(run_test::code_of([&] { trainer.fit(run_test::numbers(3), o); }) == 64);
}
