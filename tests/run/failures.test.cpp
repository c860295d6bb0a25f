#include "mlp.hpp"

#include "at_once.hpp"

#include <redco/workdir/read_manifest.hpp>
#include <redco/json/parse.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

using run_test::behaviour;
using run_test::fit_mlp;
using run_test::in;
using run_test::mentions;
using run_test::mlp_options;
using run_test::outcome;
using run_test::plain_signals;

namespace {

mlp_options failing_options() {
  mlp_options o;
  o.epochs = 4;
  o.global_batch = 4;
  return o;
}

bool holds_7(at::Tensor const& ids) { return ids.eq(7).any().item<bool>(); }

}  // namespace

TEST_CASE("an exception in a user's function on one rank ends all ranks and names its location") {
  behaviour collate, loss, predict;
  collate.collate = [](std::span<std::int64_t const> ids, redco::pipelines::collate_info const&) {
    for (std::int64_t const id : ids)
      if (id == 7) throw std::runtime_error("seven cannot be collated");
  };
  loss.loss = [](at::Tensor const& each, run_test::mlp_batch const& b) {
    if (holds_7(b.ids)) throw std::runtime_error("seven has no loss");
    return each.sum();
  };
  predict.predict = [](run_test::mlp_batch const& b) {
    if (holds_7(b.ids)) throw std::runtime_error("seven is not predicted");
  };
  struct {
    char const* function;
    behaviour const& how;
    char const* message;
  } const cases[] = {{"collate", collate, "seven cannot be collated"},
                     {"loss", loss, "seven has no loss"},
                     {"predict", predict, "seven is not predicted"}};
  for (auto const& one : cases) {
    for (redco::mesh const mesh : {redco::mesh{.dp = 2}, {.tp = 2}, {.dp = 2, .tp = 2}}) {
      INFO(one.function << " on " << mesh.dp << "x" << mesh.tp);
      temporary_folder folder;
      mlp_options o = failing_options();
      o.sanity_check = false;
      o.eval_predictions = true;
      o.eval = run_test::numbers(9);
      wait_clock const clock;
      outcome const run = fit_mlp(in(folder.path, mesh), o, 13, one.how);
      CHECK(clock.at_once());
      CHECK(run.code == 70);
      CHECK(mentions(run, "rank "));
      CHECK(mentions(run, "step "));
      CHECK(mentions(run, std::string("in ") + one.function));
      CHECK(mentions(run, one.message));
      CHECK(run.log.find(one.message) != std::string::npos);
    }
  }
}

TEST_CASE("an exception in a hook, in metrics or in the choice of examples names the function") {
  struct {
    char const* function;
    void (*set)(mlp_options&);
  } const cases[] = {
      {"on_step", [](mlp_options& o) { o.on_step = [](auto const&) { throw std::runtime_error("broken"); }; }},
      {"on_epoch", [](mlp_options& o) { o.on_epoch = [](auto const&) { throw std::runtime_error("broken"); }; }},
      {"metrics",
       [](mlp_options& o) {
         o.metrics = [](auto, auto) -> redco::options::metric_map { throw std::runtime_error("broken"); };
       }},
      {"train_of_epoch",
       [](mlp_options& o) {
         o.train_of_epoch = [](int) -> redco::examples<std::int64_t> { throw std::runtime_error("broken"); };
       }},
      {"train_step", [](mlp_options& o) { o.train_step = [](auto&, auto const&, auto const&) { throw 1; }; }}};
  for (auto const& one : cases) {
    INFO(one.function);
    temporary_folder folder;
    mlp_options o = failing_options();
    o.eval = run_test::numbers(5);
    one.set(o);
    outcome const run = fit_mlp(in(folder.path, {.dp = 2}), o);
    CHECK(run.code == 70);
    CHECK(mentions(run, std::string("in ") + one.function));
  }
}

TEST_CASE("a mistake in evaluation or metrics is found before the first step") {
  for (bool const in_metrics : {false, true}) {
    temporary_folder folder;
    behaviour how;
    mlp_options o = failing_options();
    o.eval = run_test::numbers(5);
    if (in_metrics) {
      o.metrics = [](auto, auto) -> redco::options::metric_map { throw std::runtime_error("broken"); };
    } else {
      how.predict = [](run_test::mlp_batch const&) { throw std::runtime_error("broken"); };
      o.eval_predictions = true;
    }
    outcome const run = fit_mlp(in(folder.path, {.dp = 2}), o, 13, how);
    CHECK(run.code == 70);
    CHECK(run.losses.empty());
    o.sanity_check = false;
    CHECK(fit_mlp(in(folder.path, {.dp = 2}), o, 13, how).losses.size() == 4);
  }
}

TEST_CASE("a loss or a gradient that is not finite stops all ranks, and nothing is saved") {
  behaviour infinite, nan, gradient;
  infinite.loss = [](at::Tensor const& each, run_test::mlp_batch const& b) {
    return holds_7(b.ids) ? each.sum() * HUGE_VAL : each.sum();
  };
  nan.loss = [](at::Tensor const& each, run_test::mlp_batch const& b) {
    return holds_7(b.ids) ? each.sum() * std::nan("") : each.sum();
  };
  gradient.loss = [](at::Tensor const& each, run_test::mlp_batch const& b) {
    return holds_7(b.ids) ? each.sum() + (each - each.detach()).sqrt().sum() : each.sum();
  };
  struct {
    behaviour const& how;
    char const* message;
  } const cases[] = {{infinite, "loss is infinite"}, {nan, "loss is NaN"}, {gradient, "gradient norm is"}};
  for (auto const& one : cases) {
    INFO(one.message);
    temporary_folder folder;
    outcome const run = fit_mlp(in(folder.path, {.dp = 2, .tp = 2}), failing_options(), 13, one.how);
    CHECK(run.code == 79);
    CHECK(mentions(run, one.message));
    CHECK(mentions(run, "step " + std::to_string(run.losses.size() + 1)));
    CHECK(run.losses.size() < 4);
    CHECK_FALSE(std::filesystem::exists(folder.path / "ckpts" / "last"));
  }
}

TEST_CASE("backward with a recorded graph inside a loss is reported") {
  temporary_folder folder;
  behaviour how;
  how.loss = [](at::Tensor const& each, run_test::mlp_batch const&) {
    if (each.requires_grad()) each.sum().backward({}, true, true);
    return each.sum();
  };
  outcome const run = fit_mlp(in(folder.path), failing_options(), 13, how);
  CHECK(run.code == 70);
  CHECK(mentions(run, "create_graph"));
}

TEST_CASE("an impossible run is refused before any work") {
  temporary_folder folder;
  mlp_options o = failing_options();
  o.global_batch = 2;
  outcome const small = fit_mlp(in(folder.path, {.dp = 3}), o);
  CHECK(small.code == 64);
  CHECK(mentions(small, "3"));
  CHECK(fit_mlp(in(folder.path), failing_options(), 0).code == 65);
  o = failing_options();
  o.frozen = {"up.*", "9.*"};
  outcome const unmatched = fit_mlp(in(folder.path), o);
  CHECK(unmatched.code == 64);
  CHECK(mentions(unmatched, "9.*"));
  o = failing_options();
  o.patience = -1;
  CHECK(fit_mlp(in(folder.path), o).code == 64);
  o = failing_options();
  o.eval = run_test::numbers(3);
  o.metrics = [](auto, auto) { return redco::options::metric_map{{"top/1", 1}}; };
  o.save_argmax = {"top/1"};
  CHECK(fit_mlp(in(folder.path), o).code == 64);
  o.metrics = nullptr;
  o.save_argmax = {"acuracy"};
  outcome const unknown = fit_mlp(in(folder.path, {.dp = 2}), o);
  CHECK(unknown.code == 64);
  CHECK(mentions(unknown, "acuracy"));
  CHECK(unknown.losses.empty());
}

TEST_CASE("a workdir has one run at a time, and a path that is not a workdir is refused") {
  temporary_folder folder;
  run_test::silence const quiet;
  redco::deployer first(in(folder.path));
  first.claim_workdir();
  auto const failure = [](redco::deployer_options const& o) {
    try {
      redco::deployer second(o);
      second.claim_workdir();
    } catch (redco::error const& e) {
      return std::to_string(static_cast<int>(e.code())) + " " + e.what();
    }
    return std::string("none");
  };
  std::string const busy = failure(in(folder.path));
  CHECK(busy.starts_with("64 "));
  CHECK(busy.find(std::to_string(::getpid())) != std::string::npos);
  CHECK(failure(in(folder.path / "log.txt" / "below")).starts_with("64 "));
  redco::deployer_options mesh = in(folder.path / "other");
  mesh.mesh = {};
  mesh.ranks = 3;
  mesh.n_model_shards = 2;
  CHECK(failure(mesh).starts_with("64 "));
}

TEST_CASE("a run whose workdir another host has taken ends with 64 at its next save") {
  temporary_folder folder;
  mlp_options o = failing_options();
  o.save_every_steps = 1;
  o.on_step = [&](redco::fit_event const& e) {
    if (e.step == 3) std::ofstream(folder.path / ".lock") << "process 7 on host other, start 1\n";
  };
  outcome const run = fit_mlp(in(folder.path, {.dp = 2}), o);
  CHECK(run.code == 64);
  CHECK(run.losses.size() == 3);
  CHECK(mentions(run, "process 7 on host other, start 1"));
  CHECK(mentions(run, "process " + std::to_string(::getpid()) + " on host "));
  CHECK(std::filesystem::exists(folder.path / "ckpts/step_2"));
  CHECK(!std::filesystem::exists(folder.path / "ckpts/step_3"));
}

TEST_CASE("a signal causes a checkpoint and exit code 75, and the run resumes later") {
  plain_signals const plain;
  temporary_folder whole, stopped;
  mlp_options o = failing_options();
  outcome const unbroken = fit_mlp(in(whole.path, {.dp = 2}), o);
  for (std::int64_t const at : {5, 8}) {  // within an epoch, and in its last step
    for (bool const save_last : {true, false}) {
      INFO("step " << at);
      std::filesystem::remove_all(stopped.path / "ckpts");
      o.save_last = save_last;
      o.on_step = [at](redco::fit_event const& e) {
        if (e.step == at - 1) ::raise(SIGTERM);
      };
      redco::deployer_options where = in(stopped.path, {.dp = 2});
      outcome const first = fit_mlp(where, o);
      CHECK(first.code == 75);
      CHECK(mentions(first, "SIGTERM"));
      CHECK(first.losses.size() == static_cast<std::size_t>(at));
      CHECK(first.log.find("--resume auto") != std::string::npos);
      o.on_step = nullptr;
      where.resume = "auto";
      outcome const rest = fit_mlp(where, o);
      CHECK(rest.code == 0);
      auto losses = first.losses;
      losses.insert(losses.end(), rest.losses.begin(), rest.losses.end());
      CHECK(losses == unbroken.losses);
    }
  }
}

namespace {

/// Options with evaluations of 40 examples, from 100 on, in ten batches.
mlp_options evaluating_options() {
  mlp_options o = failing_options();
  o.epochs = 2;
  o.sanity_check = false;
  std::vector<std::int64_t> far = run_test::numbers(40);
  for (std::int64_t& one : far) one += 100;
  o.eval = std::move(far);
  return o;
}

}  // namespace

TEST_CASE("a signal in an evaluation ends the evaluation at once, and the resumed run evaluates the saved step") {
  plain_signals const plain;
  temporary_folder whole;
  mlp_options o = evaluating_options();
  outcome const unbroken = fit_mlp(in(whole.path, {.dp = 2}), o);
  auto const best = redco::workdir::read_manifest(whole.path / "ckpts/last").best;
  REQUIRE(best.size() == 1);
  for (bool const save_last : {true, false}) {
    temporary_folder folder;
    std::atomic<int> collated = 0;
    behaviour how;
    how.collate = [&](std::span<std::int64_t const> ids, redco::pipelines::collate_info const&) {
      if (ids.front() >= 100 && ++collated == 4) ::raise(SIGTERM);
    };
    o.save_last = save_last;
    redco::deployer_options where = in(folder.path, {.dp = 2});
    outcome const first = fit_mlp(where, o, 13, how);
    CHECK(first.code == 75);
    CHECK(first.losses.size() == 4);
    CHECK(collated < 8);  // of 20 on two ranks
    auto const saved = redco::workdir::read_manifest(folder.path / "ckpts/step_4");
    CHECK(saved.interrupted);
    CHECK(saved.best.empty());
    where.resume = "auto";
    outcome const rest = fit_mlp(where, o);
    CHECK(rest.code == 0);
    auto losses = first.losses;
    losses.insert(losses.end(), rest.losses.begin(), rest.losses.end());
    CHECK(losses == unbroken.losses);
    CHECK(run_test::bit_equal(rest.state, unbroken.state));
    CHECK((redco::workdir::read_manifest(folder.path / "ckpts/min_loss").best == best));
  }
}

TEST_CASE("a signal in the evaluation of the last step ends with 75, and the resumed run only evaluates") {
  plain_signals const plain;
  temporary_folder folder;
  mlp_options o = evaluating_options();
  o.epochs = 1;
  std::atomic<int> collated = 0;
  behaviour how;
  how.collate = [&](std::span<std::int64_t const> ids, redco::pipelines::collate_info const&) {
    if (ids.front() >= 100 && ++collated == 4) ::raise(SIGTERM);
  };
  redco::deployer_options where = in(folder.path, {.tp = 2});
  CHECK(fit_mlp(where, o, 13, how).code == 75);
  where.resume = "auto";
  outcome const rest = fit_mlp(where, o);
  CHECK(rest.code == 0);
  CHECK(rest.losses.empty());
  auto const saved = redco::workdir::read_manifest(folder.path / "ckpts/min_loss");
  CHECK(saved.step == 4);
  CHECK_FALSE(saved.interrupted);
  CHECK(saved.best.at("min_loss").value == rest.evaluation.at("loss"));
}

TEST_CASE("a due checkpoint is on the disk before its evaluation, which gives the checkpoint its names") {
  temporary_folder folder;
  auto const ckpts = folder.path / "ckpts";
  mlp_options o = evaluating_options();
  o.epochs = 1;
  o.eval_every_steps = o.save_every_steps = 1;
  o.keep_last = 1;
  std::atomic<int> evaluated = 0, late = 0, removed = 0;
  std::int64_t step = 0;
  bool fails = false;
  o.on_step = [&](redco::fit_event const& e) { step = e.step; };
  behaviour how;
  how.collate = [&](std::span<std::int64_t const> ids, redco::pipelines::collate_info const&) {
    if (ids.front() != 100) return;
    ++evaluated;
    late += !std::filesystem::exists(ckpts / ("step_" + std::to_string(step)));
    removed += step > 1 && !std::filesystem::exists(ckpts / ("step_" + std::to_string(step - 1)));
    if (fails && step == 3) throw std::runtime_error("no third evaluation");
  };
  fails = true;
  CHECK(fit_mlp(in(folder.path), o, 13, how).code == 70);
  CHECK(evaluated == 3);
  CHECK(redco::workdir::read_manifest(ckpts / "step_3").interrupted);
  CHECK_FALSE(redco::workdir::read_manifest(ckpts / "step_2").interrupted);
  fails = false;
  redco::deployer_options where = in(folder.path);
  where.resume = "auto";
  CHECK(fit_mlp(where, o, 13, how).losses.size() == 1);
  CHECK(evaluated == 5);
  CHECK(late == 0);
  CHECK(removed == 0);
  auto const best = redco::workdir::read_manifest(ckpts / "min_loss");
  CHECK(best.best.at("min_loss").step == best.step);
  CHECK(best.names == std::vector<std::string>{"min_loss"});
  CHECK_FALSE(redco::workdir::read_manifest(ckpts / "step_4").interrupted);
  CHECK_FALSE(std::filesystem::exists(ckpts / (best.step == 3 ? "step_2" : "step_3")));
}

TEST_CASE("a signal after the last step of a run ends the program's next run") {
  plain_signals const plain;
  temporary_folder one, other;
  mlp_options o = failing_options();
  std::size_t const steps = fit_mlp(in(one.path, {.dp = 2}), o).losses.size();
  std::filesystem::remove_all(one.path / "ckpts");
  o.on_step = [steps](redco::fit_event const& e) {
    if (e.step == static_cast<std::int64_t>(steps)) ::raise(SIGTERM);
  };
  CHECK(fit_mlp(in(one.path, {.dp = 2}), o).code == 0);
  o.on_step = nullptr;
  outcome const next = fit_mlp(in(other.path, {.dp = 2}), o);
  CHECK(next.code == 75);
  CHECK(next.losses.size() == 1);
  CHECK(fit_mlp(in(other.path, {.dp = 2}), o).code == 0);
}

TEST_CASE("a failing save is a warning; three in a row, or a failing last save, exit with code 74") {
  mlp_options o = failing_options();
  o.eval = run_test::numbers(5);
  o.save_every_steps = 1;
  o.keep_last = 0;  // no checkpoint is being deleted while the folder moves
  temporary_folder folder;
  auto const ckpts = folder.path / "ckpts", aside = folder.path / "aside";
  // The saves of steps 5 and 6 fail, two saves succeed, then those of steps 9 and 10 fail: four
  // failures, never three in a row.
  o.on_step = [&](redco::fit_event const& e) {
    if (e.step == 5 || e.step == 9) {
      std::filesystem::rename(ckpts, aside);
      std::filesystem::create_symlink("nowhere", ckpts);
    } else if (e.step == 7 || e.step == 11) {
      std::filesystem::remove(ckpts);
      std::filesystem::rename(aside, ckpts);
    }
  };
  outcome const some = fit_mlp(in(folder.path, {.dp = 2}), o);
  CHECK(some.code == 0);
  CHECK(some.losses.size() == 16);
  CHECK(some.warnings == 4);
  CHECK(some.log.find("not saved") != std::string::npos);

  temporary_folder second;
  auto const there = second.path / "ckpts";
  o.on_step = [&](redco::fit_event const& e) {
    if (e.step != 6) return;
    std::filesystem::remove_all(there);
    std::filesystem::create_symlink("nowhere", there);
  };
  outcome const all = fit_mlp(in(second.path, {.dp = 2}), o);
  CHECK(all.code == 74);
  CHECK(all.losses.size() == 8);
  std::filesystem::remove(there);
  o.max_steps = 6;
  o.save_every_steps = 0;
  o.eval = {};
  CHECK(fit_mlp(in(second.path, {.dp = 2}), o).code == 74);
}

TEST_CASE("the last save waits for room as long as --save-patience says") {
  temporary_folder folder;
  auto const ckpts = folder.path / "ckpts";
  mlp_options o = failing_options();
  o.max_steps = 6;
  o.on_step = [&](redco::fit_event const& e) {
    if (e.step != 6) return;
    std::filesystem::remove_all(ckpts);
    std::filesystem::create_symlink("nowhere", ckpts);
  };
  redco::deployer_options where = in(folder.path, {.dp = 2});
  where.save_patience = 100;
  wait_clock const clock;
  std::thread room([&] {  // room comes after the run has begun to wait
    while (content_of(folder.path / "log.txt").find("(--save-patience)") == std::string::npos && clock.at_once())
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::filesystem::remove(ckpts);
  });
  outcome const run = fit_mlp(where, o);
  room.join();
  CHECK(run.code == 0);
  CHECK(run.log.find("The run waits for room for 100 s (--save-patience)") != std::string::npos);
  CHECK(redco::workdir::read_manifest(ckpts / "last").step == 6);
}

TEST_CASE("a run warns at its start if the disk has no room for all checkpoints that it keeps") {
  temporary_folder folder;
  mlp_options o = failing_options();
  CHECK(fit_mlp(in(folder.path), o).warnings == 0);
  o.keep_last = std::numeric_limits<int>::max();
  outcome const run = fit_mlp(in(folder.path), o);
  CHECK(run.code == 0);
  // A checkpoint of this network has more than 500 bytes.
  if (std::filesystem::space(folder.path).available < 1'000'000'000'000) {
    CHECK(run.warnings == 1);
    CHECK(run.log.find("the options keep up to 2147483") != std::string::npos);
  }
}

TEST_CASE("--disk-deadline limits how long ranks wait for a rank in a save, and --deadline does not") {
  for (double const limit : {0.001, 60.0}) {
    temporary_folder folder;
    mlp_options o = failing_options();
    o.save_every_steps = 1;
    redco::deployer_options where = in(folder.path, {.dp = 2});
    where.deadline = 2;
    where.disk_deadline = limit;
    // Rank 1 waits in the save of step 3 until rank 0 comes.
    o.on_step = [limit](redco::fit_event const& e) {
      if (e.step == 3) std::this_thread::sleep_for(std::chrono::seconds(limit < 1 ? 4 : 3));
    };
    outcome const run = fit_mlp(where, o);
    INFO(limit << ": " << run.reason);
    CHECK(run.code == (limit < 1 ? 69 : 0));
  }
}

TEST_CASE("a best value whose save failed does not count, and the next one is saved instead") {
  temporary_folder folder;
  auto const ckpts = folder.path / "ckpts", aside = folder.path / "aside";
  mlp_options o = failing_options();
  o.epochs = 3;
  o.eval = run_test::numbers(5);
  o.sanity_check = false;
  o.save_argmin = {"chosen"};
  int evaluations = 0;
  double const values[] = {5, 1, 3};
  o.metrics = [&](auto, auto) { return redco::options::metric_map{{"chosen", values[evaluations++]}}; };
  o.on_step = [&](redco::fit_event const& e) {
    if (e.step == 8) {
      std::filesystem::rename(ckpts, aside);
      std::filesystem::create_symlink("nowhere", ckpts);
    } else if (e.step == 9) {
      std::filesystem::remove(ckpts);
      std::filesystem::rename(aside, ckpts);
    }
  };
  outcome const run = fit_mlp(in(folder.path, {.dp = 2}), o);
  CHECK(run.code == 0);
  CHECK(run.warnings == 1);
  redco::workdir::manifest const best = redco::workdir::read_manifest(ckpts / "min_chosen");
  CHECK(best.step == 12);
  CHECK(best.best.at("min_chosen").value == 3);
  CHECK(redco::json::parse_json(content_of(folder.path / "min_metrics.json"), "min")["chosen"] == 3.0);
}

TEST_CASE("a run that fails repeatedly at one step says so until a run completes") {
  temporary_folder folder;
  mlp_options o;
  o.global_batch = 4;
  o.save_every_steps = 1;
  redco::deployer_options where = in(folder.path, {.dp = 2});
  where.resume = "auto";
  behaviour broken;
  broken.loss = [](at::Tensor const& each, run_test::mlp_batch const&) {
    if (redco::diag::run_position::here().step == 2) throw std::runtime_error("the third is broken");
    return each.sum();
  };
  auto const warns = [](outcome const& run) { return run.log.find("runs here failed at step 3") != std::string::npos; };
  for (int i = 0; i < 2; ++i) {
    outcome const run = fit_mlp(where, o, 13, broken);
    CHECK(run.code == 70);
    CHECK_FALSE(warns(run));
  }
  outcome const third = fit_mlp(where, o, 13, broken);
  CHECK(third.code == 70);
  CHECK(third.warnings == 1);
  CHECK(third.log.find("the last 2 runs here failed at step 3, the last with: rank ") != std::string::npos);
  CHECK(third.log.find("the third is broken") != std::string::npos);
  outcome const mended = fit_mlp(where, o);
  CHECK(mended.code == 0);
  CHECK(mended.log.find("the last 3 runs") != std::string::npos);
  CHECK_FALSE(warns(fit_mlp(where, o)));
}

TEST_CASE("a start that is refused leaves the page of the finished run") {
  temporary_folder folder;
  mlp_options o = failing_options();
  redco::deployer_options where = in(folder.path);
  where.resume = "auto";
  REQUIRE(fit_mlp(where, o).code == 0);
  std::string const page = content_of(folder.path / "report.html");
  CHECK(page.find(">DONE</li>") != std::string::npos);
  CHECK(fit_mlp(where, o, 14).code == 65);  // other data than the checkpoint's
  CHECK(content_of(folder.path / "report.html") == page);
  o.epochs = 5;
  behaviour broken;
  broken.loss = [](at::Tensor const&, run_test::mlp_batch const&) -> at::Tensor { throw std::runtime_error("broken"); };
  CHECK(fit_mlp(where, o, 13, broken).code == 70);  // begins: its end belongs on the page
  CHECK(content_of(folder.path / "report.html") != page);
}

TEST_CASE("three starts in a row that end before their first step are named until a run makes a step") {
  temporary_folder folder;
  mlp_options o = failing_options();
  redco::deployer_options where = in(folder.path);
  where.resume = "auto";
  REQUIRE(fit_mlp(where, o).code == 0);
  o.epochs = 6;
  auto const named = [](outcome const& run) {
    return run.log.find("starts   3 in a row ended before") != std::string::npos;
  };
  CHECK_FALSE(named(fit_mlp(where, o, 14)));
  CHECK_FALSE(named(fit_mlp(where, o, 14)));
  outcome const third = fit_mlp(where, o, 14);
  CHECK(third.warnings == 0);
  CHECK(named(third));
  outcome const fourth = fit_mlp(where, o);
  CHECK(fourth.code == 0);
  CHECK(fourth.warnings >= 1);
  CHECK(fourth.log.find("the last 3 starts here ended before their first step, the last with: ") != std::string::npos);
  CHECK(fourth.log.find("was saved with 13 training examples") != std::string::npos);
  CHECK(fit_mlp(where, o).log.find("before their first step") == std::string::npos);
}
