#include "mlp.hpp"

#include "at_once.hpp"

#include <redco/layer/dropout.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/optimizer/learning_rate.hpp>
#include <redco/diag/run_position.hpp>

#include <cmath>
#include <string>

namespace fit_options_test {

using run_test::fit_mlp;
using run_test::in;
using run_test::mentions;
using run_test::mlp_options;
using run_test::outcome;

struct dropping_config {
  std::int64_t hidden = 12;
  double dropout = 0;
};
struct dropping {
  static constexpr auto hidden = &dropping_config::hidden;
  using net = redco::sequential<redco::named<"up", redco::linear<5, hidden>>, redco::dropout<&dropping_config::dropout>,
                                redco::named<"down", redco::linear<hidden, 3>>>;
  dropping_config config;
};

TEST_CASE("impossible rates are refused before any work") {
  struct {
    redco::adamw optimizer;
    char const* message;
  } const cases[] = {{{.lr = -0.1}, "the learning rate is -0.1"},
                     {{.lr = std::nan("")}, "the learning rate is nan"},
                     {{.lr = redco::cosine{.peak = 0.1, .floor = -1}}, "the learning rate is -1"},
                     {{.lr = 0.1, .clip_norm = -1}, "clip_norm is -1"},
                     {{.lr = 0.1, .clip_norm = HUGE_VAL}, "clip_norm is inf"}};
  for (auto const& one : cases) {
    INFO(one.message);
    temporary_folder folder;
    outcome const run = fit_mlp(in(folder.path, {.dp = 2}), {}, 13, {}, {}, one.optimizer);
    CHECK(run.code == 64);
    CHECK(mentions(run, one.message));
    CHECK(run.losses.empty());
  }
}

TEST_CASE("a schedule that gives no rate is refused at its step") {
  temporary_folder folder;
  auto const falls = [](std::int64_t step, std::int64_t) { return step < 2 ? 0.01 : -0.01; };
  outcome const run = fit_mlp(in(folder.path, {.dp = 2}), {}, 30, {}, {}, {.lr = falls});
  CHECK(run.code == 64);
  CHECK(mentions(run, "step 3: the schedule gives the learning rate -0.01"));
  CHECK(run.losses.size() == 2);
}

TEST_CASE("a dropout of 1 or below 0 is refused, and values between are accepted") {
  auto const code = [](double dropout) {
    temporary_folder folder;
    outcome const run = run_test::fit(in(folder.path), dropping{{.dropout = dropout}}, run_test::mlp_pipeline(),
                                      run_test::numbers(9), {});
    if (run.code != 0) CHECK(mentions(run, "dropout is " + std::to_string(dropout)));
    return run.code;
  };
  CHECK(code(1) == 64);
  CHECK(code(-0.5) == 64);
  CHECK(code(std::nan("")) == 64);
  CHECK(code(0.9) == 0);
}

TEST_CASE("patience without an evaluation, or without a metric, is refused by name") {
  temporary_folder folder;
  mlp_options o;
  o.patience = 3;
  outcome const blind = fit_mlp(in(folder.path), o);
  CHECK(blind.code == 64);
  CHECK(mentions(blind, "patience is 3"));
  CHECK(mentions(blind, "eval"));
  o.eval = run_test::numbers(3);
  CHECK(fit_mlp(in(folder.path), o).code == 0);
  o.save_argmin = {};
  outcome const nothing_watched = fit_mlp(in(folder.path), o);
  CHECK(nothing_watched.code == 64);
  CHECK(mentions(nothing_watched, "save_argmin"));
}

TEST_CASE("ranks with different numbers of examples are refused at once") {
  for (redco::mesh const mesh : {redco::mesh{.dp = 2}, {.tp = 2}}) {
    temporary_folder folder;
    mlp_options o;
    o.global_batch = 4;
    o.epochs = 2;
    o.train_of_epoch = [](int epoch) {
      bool const fewer = epoch == 1 && redco::diag::run_position::here().rank == 1;
      return redco::examples<std::int64_t>(run_test::numbers(fewer ? 9 : 13));
    };
    wait_clock const clock;
    outcome const run = fit_mlp(in(folder.path, mesh), o);
    CHECK(clock.at_once());
    CHECK(run.code == 65);
    CHECK(mentions(run, "rank 0 and rank 1 have different training examples in epoch 2: their number is 13 and 9"));
    CHECK(run.losses.size() == 4);
  }
}

}  // namespace fit_options_test
