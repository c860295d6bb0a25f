#include "catch.hpp"
#include "fake_terminal.hpp"

#include <redco/log/progress.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>

namespace {

// A clock that advances only when a test advances it.
struct hand_clock {
  std::chrono::steady_clock::time_point time{std::chrono::hours(1)};

  void pass(double seconds) { time += std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)); }

  redco::log::progress_options options() {
    redco::log::progress_options result;
    result.now = [this] { return time; };
    return result;
  }
};

redco::log::progress_point point_at(std::int64_t done, double loss) {
  redco::log::progress_point point;
  point.done = done;
  point.loss = loss;
  point.learning_rate = 3e-4;
  point.grad_norm = 0.8;
  point.items = done * 100;
  return point;
}

redco::log::console_options plain_options(std::ostringstream& out) {
  redco::log::console_options options;
  options.out = &out;
  return options;
}

int redraws_of(std::string const& written) {
  int count = 0;
  for (char letter : written) count += letter == '\r';
  return count;
}

}  // namespace

TEST_CASE("the bar shows phase, step, numbers, rates and both ETAs") {
  fake_terminal terminal;
  terminal.columns = 118;
  hand_clock clock;
  redco::log::console console(terminal.options());
  redco::log::progress bar(console, clock.options());
  bar.start({.label = "epoch 1/3", .total = 1000, .run_left = 1000});
  clock.pass(33.87);  // 420 steps at 12.4 per second
  bar.update(point_at(420, 2.31));
  CHECK(terminal.screen() ==
        "epoch 1/3 ▕███████▉           ▏ 420/1000 loss 2.31 lr 3.0e-4 gn 0.80 | 1.2k tok/s | "
        "12.4 it/s | ETA 00:46 (run 02:07)");
  clock.pass(46);
  bar.update(point_at(1000, 2.05));
  bar.finish();
  CHECK(terminal.screen() ==
        "epoch 1/3 ▕█████████████████████████████▏ 1000/1000 loss 2.05 lr 3.0e-4 gn 0.80 | "
        "1.3k tok/s | 12.5 it/s | took 01:19\n");
}

TEST_CASE("a terminal that cannot show blocks gets an ASCII bar") {
  fake_terminal terminal;
  hand_clock clock;
  redco::log::console console(terminal.options(false));
  redco::log::progress bar(console, clock.options());
  bar.start({.label = "evaluation", .total = 8});
  clock.pass(8);
  bar.update({.done = 4});
  CHECK(terminal.screen() == "evaluation [###############               ] 4/8 | 2.00 s/it | ETA 00:08");
}

TEST_CASE("a narrow terminal loses the run's ETA first, then rates, then the bar, and never wraps") {
  hand_clock clock;
  std::string const expected[] = {
      "epoch 1/3 ▕██    ▏ 5/15 loss 2.31 lr 3.0e-4 gn 0.80 | 250 tok/s | 2.50 it/s | ETA 00:04",
      "epoch 1/3 ▕██    ▏ 5/15 loss 2.31 lr 3.0e-4 gn 0.80 | 250 tok/s | ETA 00:04",
      "epoch 1/3 ▕██    ▏ 5/15 loss 2.31 lr 3.0e-4 gn 0.80 | ETA 00:04",
      "epoch 1/3 5/15 loss 2.31 lr 3.0e-4 gn 0.80 | ETA 00:0",
      "epoch 1/3 5/1",
  };
  int const widths[] = {88, 76, 64, 54, 14};
  for (int which = 0; which < 5; ++which) {
    fake_terminal terminal;
    terminal.columns = widths[which];
    redco::log::console console(terminal.options());
    redco::log::progress bar(console, clock.options());
    bar.start({.label = "epoch 1/3", .total = 15, .run_left = 7});
    clock.pass(2);
    bar.update(point_at(5, 2.31));
    CHECK(terminal.screen() == expected[which]);
    CHECK(redco::log::columns(terminal.screen()) < static_cast<std::size_t>(terminal.columns));
  }
}

TEST_CASE("a terminal is redrawn at most ten times a second, and at the first and the last step") {
  fake_terminal terminal;
  hand_clock clock;
  redco::log::console console(terminal.options());
  redco::log::progress bar(console, clock.options());
  bar.start({.label = "e", .total = 1000});
  for (int step = 1; step <= 1000; ++step) {
    clock.pass(1.0 / 512);
    bar.update({.done = step});
    if (step == 1) CHECK(redraws_of(terminal.out.str()) == 1);
  }
  // 999 / 512 s: one at the start, one after each 52 steps, one at the end.
  CHECK(redraws_of(terminal.out.str()) == 1 + 999 / 52 + 1);
  CHECK(terminal.screen().find(" 1000/1000 | 512 it/s | took 00:01") != std::string::npos);
}

TEST_CASE("rates cover the last seconds, so a slow start is forgotten") {
  fake_terminal terminal;
  hand_clock clock;
  redco::log::console console(terminal.options());
  redco::log::progress bar(console, clock.options());
  bar.start({.total = 10000});
  clock.pass(100);  // the first step
  bar.update({.done = 1});
  for (int step = 2; step <= 101; ++step) {
    clock.pass(0.5);
    bar.update({.done = step});
  }
  CHECK(terminal.screen().find(" 101/10000 | 2.00 it/s | ETA 01:22:29") != std::string::npos);
}

TEST_CASE("a run without a terminal prints a line every few seconds, and always the first and the last") {
  std::ostringstream out;
  hand_clock clock;
  redco::log::console console(plain_options(out));
  redco::log::progress bar(console, clock.options());
  bar.start({.label = "epoch 2/3", .total = 25, .run_left = 25});
  for (int step = 1; step <= 25; ++step) {
    clock.pass(1);
    bar.update(point_at(step, 5 - 0.1 * step));
  }
  bar.finish();
  CHECK(out.str() ==
        "epoch 2/3 1/25 loss 4.90 lr 3.0e-4 gn 0.80 | 100 tok/s | 1.00 it/s | ETA 00:24 (run 00:49)\n"
        "epoch 2/3 11/25 loss 3.90 lr 3.0e-4 gn 0.80 | 100 tok/s | 1.00 it/s | ETA 00:14 (run 00:39)\n"
        "epoch 2/3 21/25 loss 2.90 lr 3.0e-4 gn 0.80 | 100 tok/s | 1.00 it/s | ETA 00:04 (run 00:29)\n"
        "epoch 2/3 25/25 loss 2.50 lr 3.0e-4 gn 0.80 | 100 tok/s | 1.00 it/s | took 00:25\n");
}

TEST_CASE("lines can come every few steps, and a phase that ends early still shows its last step") {
  std::ostringstream out;
  hand_clock clock;
  auto options = clock.options();
  options.line_seconds = 0;
  options.line_steps = 4;
  redco::log::console console(plain_options(out));
  {
    redco::log::progress bar(console, options);
    bar.start({.label = "epoch 1/1", .total = 100, .first = 10});
    for (int step = 11; step <= 17; ++step) {
      clock.pass(60);
      bar.update({.done = step, .note = "accuracy 0.5"});
    }
  }
  CHECK(out.str() ==
        "epoch 1/1 11/100 accuracy 0.5 | 60.0 s/it | ETA 01:29:00\n"
        "epoch 1/1 12/100 accuracy 0.5 | 60.0 s/it | ETA 01:28:00\n"
        "epoch 1/1 16/100 accuracy 0.5 | 60.0 s/it | ETA 01:24:00\n"
        "epoch 1/1 17/100 accuracy 0.5 | 60.0 s/it | took 07:00\n");
}

TEST_CASE("a phase of unknown length has no bar and no ETA, and a phase without steps prints nothing") {
  fake_terminal terminal;
  hand_clock clock;
  redco::log::console console(terminal.options());
  redco::log::progress bar(console, clock.options());
  bar.start({.label = "nothing", .total = 3});
  bar.start({.label = "reading", .unit = "files"});
  clock.pass(2);
  bar.update({.done = 1, .items = 70});
  CHECK(terminal.screen() == "reading 1 | 35 files/s | 2.00 s/it");
  bar.start({.label = "next", .total = 3});
  CHECK(terminal.screen() == "reading 1 | 35 files/s | 2.00 s/it | took 00:02\n");
  bar.finish();
  bar.update({.done = 2});
  CHECK(terminal.screen() == "reading 1 | 35 files/s | 2.00 s/it | took 00:02\n");
}

TEST_CASE("losses that are not finite are shown, and absent numbers are not") {
  std::ostringstream out;
  hand_clock clock;
  auto options = clock.options();
  options.line_steps = 1;
  redco::log::console console(plain_options(out));
  redco::log::progress bar(console, options);
  bar.start({.label = "e", .total = 3});
  bar.update({.done = 1, .loss = std::numeric_limits<double>::infinity()});
  bar.update({.done = 2, .loss = std::nan("")});
  bar.update({.done = 3, .grad_norm = 0});
  CHECK(out.str() == "e 1/3 loss inf\ne 2/3 loss nan\ne 3/3 gn 0\n");
}
