#include "mlp.hpp"

#include <redco/run/predictor.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/workdir/workdir_lock.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

using run_test::in;
using run_test::mlp;
using run_test::mlp_pipeline;

namespace {

using mlp_trainer = run_test::trainer_of<mlp, decltype(mlp_pipeline())>;

// After six steps the learning rate is so large that the network forgets what it has learned.
constexpr redco::adamw forgetful{.lr = [](std::int64_t step, std::int64_t) { return step < 6 ? 0.05 : 4.0; }};

run_test::mlp_options forgetful_options() {
  run_test::mlp_options o;
  o.epochs = 4;
  o.global_batch = 4;
  o.keep_last = 1;
  o.eval = run_test::numbers(13);
  o.metrics = [](std::span<std::int64_t const> ids, std::span<std::int64_t const> outputs) {
    double right = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) right += outputs[i] % 10 == (ids[i] * 7 + 1) % 3;
    return redco::options::metric_map{{"accuracy", right / static_cast<double>(ids.size())}};
  };
  o.save_argmin = {};
  o.save_argmax = {"accuracy"};
  return o;
}

template <class States>
run_test::tensors parameters_of(States const& states) {
  run_test::tensors all = run_test::whole_state(states);
  std::erase_if(all, [](auto const& one) { return one.first.starts_with("optimizer."); });
  return all;
}

run_test::tensors loaded(std::filesystem::path const& files, redco::mesh mesh,
                         std::vector<std::int64_t>* outputs = nullptr) {
  temporary_folder const elsewhere;
  redco::deployer deployer(in(elsewhere / "unused", mesh));
  redco::inference const read(deployer, mlp{}, mlp_pipeline(), files);
  if (outputs != nullptr) *outputs = redco::predictor(read).predict(run_test::numbers(13), 4);
  // Predicting does not write to the workdir
  CHECK_FALSE(std::filesystem::exists(elsewhere / "unused"));
  return parameters_of(read.states());
}

}  // namespace

TEST_CASE("a user's own model is loaded from its checkpoints and from its saved weights, on any mesh") {
  temporary_folder const folder;
  run_test::silence const quiet;
  run_test::tensors last;
  std::vector<std::int64_t> outputs;
  {
    redco::deployer deployer(in(folder.path, {.dp = 2}));
    mlp_trainer trainer(deployer, mlp{}, mlp_pipeline(), forgetful);
    trainer.fit(run_test::numbers(13), forgetful_options());
    trainer.save_model(folder / "model");
    last = parameters_of(trainer.states());
    outputs = redco::predictor(trainer).predict(run_test::numbers(13), 4);
  }
  auto const ckpts = folder / "ckpts";
  REQUIRE(redco::workdir::read_manifest(ckpts / "max_accuracy").step <
          redco::workdir::read_manifest(ckpts / "last").step);
  for (redco::mesh const mesh : {redco::mesh{.dp = 1}, {.dp = 2}, {.tp = 3}}) {
    INFO("mesh " << mesh.dp << "x" << mesh.tp);
    for (std::string const files : {"ckpts/last", "ckpts/step_16", "model", "model/model.safetensors"}) {
      INFO(files);
      std::vector<std::int64_t> again;
      CHECK(run_test::bit_equal(loaded(folder / files, mesh, &again), last));
      CHECK(again == outputs);
    }
    CHECK_FALSE(run_test::bit_equal(loaded(ckpts / "max_accuracy", mesh), last));
  }
  redco::deployer deployer(in(folder.path));
  mlp_trainer next(deployer, mlp{}, mlp_pipeline(), redco::adamw{.lr = 0});
  next.start_from(ckpts / "last");
  run_test::mlp_options one;
  one.max_steps = 1;
  one.global_batch = 13;
  next.fit(run_test::numbers(13), one);
  CHECK(run_test::bit_equal(parameters_of(next.states()), last));
}

TEST_CASE("a fit that stops early or ends leaves the best weights if requested") {
  for (int const patience : {0, 2}) {
    for (bool const asked : {true, false}) {
      temporary_folder const folder;
      run_test::silence const quiet;
      run_test::mlp_options o = forgetful_options();
      o.patience = patience;
      o.epochs = 6;
      o.restore_best = asked;
      auto const run = run_test::fit_mlp(in(folder.path, {.tp = 2}), o, 13, {}, {}, forgetful);
      REQUIRE(run.code == 0);
      auto const best = redco::workdir::read_manifest(folder / "ckpts/max_accuracy").best.at("max_accuracy");
      CHECK(std::ssize(run.losses) == (patience > 0 ? best.step + 8 : 24));
      run_test::tensors ends = run.state;
      std::erase_if(ends, [](auto const& one) { return one.first.starts_with("optimizer."); });
      CHECK(run_test::bit_equal(ends, loaded(folder / "ckpts/max_accuracy", {.dp = 1})) == asked);
      if (asked) CHECK(run.evaluation.at("accuracy") == best.value);
    }
  }
}

TEST_CASE("a request for the best weights is refused without an evaluation or a watched metric") {
  run_test::mlp_options o = forgetful_options();
  o.restore_best = true;
  run_test::mlp_options blind = o;
  blind.eval = {};
  o.save_argmax = {};
  for (auto const& options : {o, blind}) {
    temporary_folder const folder;
    auto const run = run_test::fit_mlp(in(folder.path), options);
    CHECK(run.code == 64);
    CHECK(run_test::mentions(run, "restore_best"));
  }
}

TEST_CASE("training locks the workdir, prediction does not, and log.txt keeps earlier lines") {
  temporary_folder const folder;
  {
    run_test::silence const quiet;
    redco::deployer deployer(in(folder.path));
    deployer.log().line("the options");
    CHECK_FALSE(std::filesystem::exists(folder / "log.txt"));
    mlp_trainer trainer(deployer, mlp{}, mlp_pipeline(), forgetful);
    trainer.fit(run_test::numbers(13), forgetful_options());
    CHECK(content_of(folder / "log.txt").find("Z the options\n") != std::string::npos);
  }
  {
    temporary_folder const taken;
    std::filesystem::create_symlink("nowhere", taken / "ckpts");
    redco::deployer deployer(in(taken.path));
    CHECK_THROWS_WITH(mlp_trainer(deployer, mlp{}, mlp_pipeline(), forgetful),
                      Catch::Matchers::Matches(".*is a link to no folder.*"));
  }
  redco::workdir::workdir_lock const training(folder.path);
  redco::deployer deployer(in(folder.path));
  redco::inference const read(deployer, mlp{}, mlp_pipeline(), folder / "ckpts/last");
  CHECK(redco::predictor(read).predict(run_test::numbers(13), 4).size() == 13);
  try {
    mlp_trainer second(deployer, mlp{}, mlp_pipeline(), forgetful);
    FAIL("a second trainer took the workdir");
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::usage);
    CHECK(std::string(e.what()).find("in use by process") != std::string::npos);
  }
}
