#include "mlp.hpp"

#include "at_once.hpp"

#include <redco/data/sampler.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/optimizer/learning_rate.hpp>
#include <redco/diag/run_position.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>

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

TEST_CASE("collate_threads is the number of threads that collate at once, and changes no result") {
  std::atomic<int> inside{0};
  std::atomic<bool> met{false};
  run_test::behaviour meeting;
  meeting.collate = [&](std::span<std::int64_t const>, redco::pipelines::collate_info const&) {
    ++inside;
    for (int round = 0; round < 5000 && !met; ++round) {
      if (inside >= 3) met = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    --inside;
  };
  mlp_options o;
  o.epochs = 2;
  o.global_batch = 4;
  o.prefetch = 0;
  temporary_folder alone, several, two_ranks;
  outcome const expected = fit_mlp(in(alone.path), o);
  o.prefetch = 1;
  o.collate_threads = 3;
  outcome const run = fit_mlp(in(several.path), o, 13, meeting);
  CHECK(met);
  CHECK(run.losses == expected.losses);
  CHECK(run_test::bit_equal(run.state, expected.state));
  CHECK(run_test::difference(fit_mlp(in(two_ranks.path, {.dp = 2}), o).losses, expected.losses) < 1e-12);
}

TEST_CASE("a failure of collate names its step and examples, for any number of threads") {
  redco::data::sampler const order(13, 42);
  std::int64_t nine = 0;
  while (order.at(0, nine) != 9) ++nine;
  std::int64_t const step = nine / 4, last = std::min<std::int64_t>(13, 4 * step + 4);
  std::string names;
  for (std::int64_t at = 4 * step; at < last; ++at)
    names += (names.empty() ? "" : ", ") + std::to_string(order.at(0, at));
  run_test::behaviour failing;
  failing.collate = [](std::span<std::int64_t const> ids, redco::pipelines::collate_info const&) {
    if (std::ranges::count(ids, 9) > 0) throw std::out_of_range("no nine");
  };
  for (int const threads : {1, 3}) {
    temporary_folder folder;
    mlp_options o;
    o.global_batch = 4;
    o.collate_threads = threads;
    outcome const run = fit_mlp(in(folder.path), o, 13, failing);
    INFO(run.reason);
    CHECK(run.code == 70);
    CHECK(mentions(run, "step " + std::to_string(step + 1) + ", in collate: example" +
                            (last - 4 * step > 1 ? "s " : " ") + names + ": no nine"));
    CHECK(std::ssize(run.losses) == step);
  }
}

}  // namespace fit_options_test
