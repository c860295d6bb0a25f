#include "mlp.hpp"

#include <redco/workdir/read_manifest.hpp>
#include <redco/diag/run_position.hpp>

#include <cmath>
#include <filesystem>
#include <string>

namespace not_finite_test {

using run_test::behaviour;
using run_test::fit_mlp;
using run_test::in;
using run_test::mentions;
using run_test::mlp_options;
using run_test::outcome;

namespace {

mlp_options one_epoch() {
  mlp_options o;
  o.global_batch = 4;
  return o;
}

}  // namespace

TEST_CASE("an evaluation whose loss is not finite after finite steps ends the run and is not saved") {
  for (double const value : {std::nan(""), HUGE_VAL}) {
    behaviour how;
    how.loss = [value](at::Tensor const& each, run_test::mlp_batch const& b) {
      return b.ids.ge(100).any().item<bool>() ? each.sum() * value : each.sum();
    };
    temporary_folder folder;
    mlp_options o = one_epoch();
    o.sanity_check = false;
    o.eval = std::vector<std::int64_t>{5, 103, 8};
    outcome const run = fit_mlp(in(folder.path, {.dp = 2}), o, 13, how);
    CHECK(run.code == 79);
    CHECK(run.losses.size() == 4);
    CHECK(mentions(
        run, std::string("after step 4: the loss of the evaluation is ") + (std::isnan(value) ? "NaN" : "infinite")));
    CHECK_FALSE(std::filesystem::exists(folder.path / "ckpts" / "last"));
    CHECK_FALSE(std::filesystem::exists(folder.path / "eval_results_epoch0.json"));
    CHECK(run.log.find("--resume") == std::string::npos);
  }
}

TEST_CASE("a loss that is not finite on one model shard alone ends the run") {
  for (bool const evaluating : {false, true}) {
    behaviour how;
    how.loss = [evaluating](at::Tensor const& each, run_test::mlp_batch const&) {
      // Added after the graph is built, so that the gradient stays finite.
      bool const here = redco::diag::run_position::here().rank == 1 && each.requires_grad() != evaluating;
      return each.sum() + (here ? std::nan("") : 0.0);
    };
    temporary_folder folder;
    mlp_options o = one_epoch();
    o.sanity_check = false;
    if (evaluating) o.eval = run_test::numbers(3);
    outcome const run = fit_mlp(in(folder.path, {.tp = 2}), o, 13, how);
    CHECK(run.code == 79);
    CHECK(mentions(run, "is NaN"));
    CHECK_FALSE(std::filesystem::exists(folder.path / "ckpts" / "last"));
  }
}

TEST_CASE("parameters that are not finite are never saved: the first is named with rank and step") {
  for (redco::mesh const mesh : {redco::mesh{.dp = 1}, {.dp = 2, .tp = 2}}) {
    temporary_folder folder;
    mlp_options o = one_epoch();
    o.save_every_steps = 1;
    // Loss and gradient of the first step are finite; weight decay makes the parameters infinite.
    outcome const run = fit_mlp(in(folder.path, mesh), o, 13, {}, {}, {.lr = 0.02, .weight_decay = HUGE_VAL});
    CHECK(run.code == 79);
    CHECK(mentions(run, "rank "));
    CHECK(mentions(run, "step 1: the parameter up.weight is not finite"));
    CHECK_FALSE(std::filesystem::exists(folder.path / "ckpts" / "last"));
  }
}

TEST_CASE("shares of parameters that are not finite are never saved with ZeRO, in f64 and bf16") {
  for (redco::dtype const type : {redco::dtype::f64, redco::dtype::bf16})
    for (int const level : {1, 2, 3}) {
      INFO(name_of(type) << ", level " << level);
      temporary_folder folder;
      mlp_options o = one_epoch();
      o.save_every_steps = 1;
      redco::deployer_options where = in(folder.path, {.dp = 2});
      where.zero = level;
      where.dtype = type;
      outcome const run = fit_mlp(where, o, 13, {}, {}, {.lr = 0.02, .weight_decay = HUGE_VAL});
      CHECK(run.code == 79);
      CHECK(mentions(run, "step 1: the parameter "));
      CHECK(mentions(run, ".weight is not finite"));
      CHECK_FALSE(std::filesystem::exists(folder.path / "ckpts" / "last"));
    }
}

TEST_CASE("a parameter whose square alone overflows is finite") {
  temporary_folder folder;
  mlp_options o = one_epoch();
  o.max_steps = 1;
  redco::deployer_options const where = in(folder.path);
  run_test::silence const quiet;
  redco::deployer deployer(where);
  run_test::trainer_of<run_test::mlp, decltype(run_test::mlp_pipeline())> trainer(
      deployer, {}, run_test::mlp_pipeline(), redco::adamw{.lr = 0.02});
  trainer.fit(run_test::numbers(5), o);
  at::Tensor const all = trainer.states().front()->store.masters();
  all[0] = 1e300;
  trainer.states().front()->check_finite(1);
  all[0] = HUGE_VAL;
  CHECK_THROWS_AS(trainer.states().front()->check_finite(1), redco::error);
}

}  // namespace not_finite_test
