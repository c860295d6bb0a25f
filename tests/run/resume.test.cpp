#include "mlp.hpp"

#include <redco/workdir/read_manifest.hpp>
#include <redco/workdir/write_manifest.hpp>
#include <redco/data/mixture.hpp>
#include <redco/data/sampler.hpp>
#include <redco/data/token_file.hpp>
#include <redco/data/token_writer.hpp>
#include <redco/data/views.hpp>
#include <redco/json/parse.hpp>
#include <redco/random/uniform.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using run_test::fit_mlp;
using run_test::in;
using run_test::mlp_options;
using run_test::outcome;

namespace {

// 13 examples, 4 at a time: epochs of 4 steps, the last step with one example.
mlp_options resume_options(std::int64_t max_steps, std::int64_t micro_batch = 0) {
  mlp_options o;
  o.epochs = 3;
  o.max_steps = max_steps;
  o.global_batch = 4;
  o.micro_batch = micro_batch;
  o.eval = run_test::numbers(5);
  return o;
}

redco::deployer_options resume_at(std::filesystem::path const& workdir, redco::mesh mesh = {.dp = 1}) {
  redco::deployer_options o = in(workdir, mesh);
  o.resume = "auto";
  return o;
}

std::vector<double> after(std::int64_t steps, std::vector<double> const& losses) {
  return {losses.begin() + steps, losses.end()};
}

std::vector<std::int64_t> logged_steps(std::filesystem::path const& workdir) {
  std::vector<std::int64_t> steps;
  std::istringstream lines(content_of(workdir / "metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    auto const row = redco::json::parse_json(line, "row");
    // Rows without a loss are of evaluations
    if (row.contains("loss")) steps.push_back(row["step"].get<std::int64_t>());
  }
  return steps;
}

}  // namespace

TEST_CASE("a run that is stopped and resumed equals the unbroken run bit for bit, also in the middle of an epoch") {
  temporary_folder whole, broken;
  outcome const unbroken = fit_mlp(in(whole.path), resume_options(0));
  REQUIRE(unbroken.code == 0);
  REQUIRE(unbroken.losses.size() == 12);
  std::vector<double> losses;
  for (std::int64_t const stop : {3, 4, 6, 12}) {
    outcome const part = fit_mlp(resume_at(broken.path), resume_options(stop));
    REQUIRE(part.code == 0);
    losses.insert(losses.end(), part.losses.begin(), part.losses.end());
  }
  CHECK(losses == unbroken.losses);
  outcome const again = fit_mlp(resume_at(broken.path), resume_options(0));
  CHECK(again.code == 0);
  CHECK(again.losses.empty());
  CHECK(again.evaluation == unbroken.evaluation);
  CHECK(run_test::bit_equal(again.state, unbroken.state));
  std::vector<std::int64_t> expected = run_test::numbers(12);
  for (std::int64_t& step : expected) ++step;
  CHECK(logged_steps(broken.path) == expected);
}

TEST_CASE("a checkpoint is bit-equal on every mesh, and a run resumed there has equal losses") {
  temporary_folder saved, whole;
  outcome const unbroken = fit_mlp(in(whole.path), resume_options(0));
  outcome const first = fit_mlp(in(saved.path, {.dp = 2}), resume_options(6));
  REQUIRE(first.code == 0);
  CHECK(run_test::difference(unbroken.losses, [&] {
          auto all = first.losses;
          auto const rest = after(6, unbroken.losses);
          all.insert(all.end(), rest.begin(), rest.end());
          return all;
        }()) < 1e-10);
  std::string const at = (saved.path / "ckpts" / "last").string();
  for (redco::mesh const mesh :
       {redco::mesh{.dp = 1}, {.dp = 2}, {.dp = 3}, {.tp = 2}, {.tp = 3}, {.dp = 2, .tp = 2}}) {
    INFO("mesh " << mesh.dp << "x" << mesh.tp);
    temporary_folder there;
    redco::deployer_options where = in(there.path, mesh);
    where.resume = at;
    outcome const loaded = fit_mlp(where, resume_options(6));
    REQUIRE(loaded.code == 0);
    CHECK(run_test::bit_equal(loaded.state, first.state));
    outcome const rest = fit_mlp(where, resume_options(0, 1));
    REQUIRE(rest.code == 0);
    CHECK(run_test::difference(after(6, unbroken.losses), rest.losses) < 1e-10);
  }
}

TEST_CASE("a manifest records the position of the run, and pointers name the last, best and requested checkpoints") {
  temporary_folder folder;
  mlp_options o = resume_options(10);
  o.save_every_epochs = 2;
  o.save_every_steps = 3;
  o.keep_last = 1;
  redco::deployer_options where = in(folder.path, {.dp = 2});
  where.seed = 7;
  std::vector<double> evaluations;
  o.on_epoch = [&](redco::fit_event const& e) { evaluations.push_back(e.metrics.at("loss")); };
  outcome const run = fit_mlp(where, o);
  REQUIRE(run.code == 0);
  auto const ckpts = folder.path / "ckpts";
  redco::workdir::manifest const last = redco::workdir::read_manifest(ckpts / "last");
  CHECK(last.step == 10);
  CHECK(last.epoch == 2);
  CHECK(last.epoch_position == 8);
  CHECK(last.mesh.dp == 2);
  CHECK(last.mesh.tp == 1);
  CHECK(last.rng.seed == 7);
  CHECK(last.rng.step == 10);
  CHECK(last.data.seed == 7);
  CHECK(last.data.examples == 13);
  REQUIRE(evaluations.size() == 3);
  double const best = *std::min_element(evaluations.begin(), evaluations.end());
  CHECK(last.best.at("min_loss").value == best);
  redco::workdir::manifest const lowest = redco::workdir::read_manifest(ckpts / "min_loss");
  CHECK(lowest.best.at("min_loss").step == lowest.step);
  CHECK(redco::json::parse_json(content_of(folder.path / "min_metrics.json"), "min")["loss"].get<double>() == best);
  CHECK(redco::workdir::read_manifest(ckpts / "epoch_1").step == 8);
  CHECK(content_of(ckpts / "last_ckpt.txt") == "step_10\n");
  CHECK_FALSE(std::filesystem::exists(ckpts / "epoch_0"));
  std::size_t kept = 0;
  for (auto const& entry : std::filesystem::directory_iterator(ckpts))
    if (entry.is_directory() && !entry.is_symlink()) ++kept;
  CHECK(kept == (lowest.step == 10 ? 2u : lowest.step == 8 ? 2u : 3u));
}

TEST_CASE("the best checkpoint outlives a kill between its save and its name") {
  temporary_folder folder;
  mlp_options o = resume_options(4);
  o.keep_last = 1;
  REQUIRE(fit_mlp(in(folder.path), o).code == 0);
  auto const ckpts = folder.path / "ckpts";
  double const best = redco::workdir::read_manifest(ckpts / "step_4").best.at("min_loss").value;
  for (char const* const name : {"ckpts/min_loss", "ckpts/last", "ckpts/last_ckpt.txt", "min_metrics.json"})
    std::filesystem::remove(folder.path / name);
  o.max_steps = 12;
  // Later scores are worse
  REQUIRE(fit_mlp(resume_at(folder.path), o, 13, {}, {}, {.lr = 4}).code == 0);
  CHECK(redco::workdir::read_manifest(ckpts / "last").best.at("min_loss").value == best);
  CHECK(redco::workdir::read_manifest(ckpts / "min_loss").step == 4);
  CHECK(redco::json::parse_json(content_of(folder.path / "min_metrics.json"), "min")["loss"].get<double>() == best);
}

TEST_CASE("a finished run that is started again writes missing files") {
  temporary_folder folder;
  REQUIRE(fit_mlp(in(folder.path), resume_options(0)).code == 0);
  std::string const best = content_of(folder.path / "min_metrics.json");
  std::filesystem::remove(folder.path / "min_metrics.json");
  std::filesystem::remove(folder.path / "ckpts/min_loss");
  REQUIRE(fit_mlp(resume_at(folder.path), resume_options(0)).losses.empty());
  CHECK(content_of(folder.path / "min_metrics.json") == best);
  CHECK(std::filesystem::exists(folder.path / "ckpts/min_loss/manifest.json"));
}

TEST_CASE("a run resumed from another folder keeps its own best checkpoint") {
  temporary_folder folder, other;
  REQUIRE(fit_mlp(in(folder.path), resume_options(4)).code == 0);
  redco::deployer_options where = in(other.path);
  where.resume = (folder.path / "ckpts/last").string();
  outcome const rest = fit_mlp(where, resume_options(8), 13, {}, {}, {.lr = 4});
  REQUIRE(rest.code == 0);
  CHECK(redco::workdir::read_manifest(other.path / "ckpts/min_loss").best.at("min_loss").step == 8);
  CHECK(rest.log.find("looked for anew") != std::string::npos);
}

TEST_CASE("every k-th step is saved, even at the end of an epoch that saves nothing else") {
  temporary_folder folder;
  mlp_options o = resume_options(0);
  o.eval = {};
  o.epochs = 2;
  o.save_last = false;
  o.keep_last = 0;
  o.save_every_steps = 4;
  REQUIRE(fit_mlp(in(folder.path), o).code == 0);
  CHECK(std::filesystem::exists(folder.path / "ckpts" / "step_4"));
  CHECK(std::filesystem::exists(folder.path / "ckpts" / "step_8"));
  CHECK_FALSE(std::filesystem::exists(folder.path / "ckpts" / "step_3"));
}

TEST_CASE("a run resumes from the newest checkpoint, from a path or not at all") {
  temporary_folder folder, other;
  mlp_options o = resume_options(3);
  o.keep_last = 0;
  o.save_every_steps = 1;
  REQUIRE(fit_mlp(in(folder.path), o).code == 0);
  o.max_steps = 5;
  CHECK(fit_mlp(resume_at(folder.path), o).losses.size() == 2);
  redco::deployer_options where = in(other.path);
  where.resume = (folder.path / "ckpts" / "step_1").string();
  CHECK(fit_mlp(where, resume_options(3)).losses.size() == 2);
  CHECK(fit_mlp(resume_at(other.path), resume_options(3)).losses.empty());
  CHECK(fit_mlp(in(other.path), resume_options(3)).losses.size() == 3);
  where.resume = (folder.path / "ckpts" / "step_99").string();
  outcome const missing = fit_mlp(where, resume_options(3));
  CHECK(missing.code == 65);
  CHECK(run_test::mentions(missing, "step_99"));
}

TEST_CASE("a requeued run continues the branch that began at an older step, and the abandoned steps stay") {
  temporary_folder folder;
  mlp_options o = resume_options(10);
  o.keep_last = 0;
  o.save_every_steps = 2;
  REQUIRE(fit_mlp(in(folder.path), o).losses.size() == 10);
  auto const ckpts = folder.path / "ckpts";
  redco::deployer_options where = in(folder.path, {.dp = 2});
  where.resume = (ckpts / "step_4").string();
  mlp_options stopped = o;
  stopped.on_step = [](redco::fit_event const& e) {
    if (e.step == 5) std::raise(SIGUSR1);
  };
  outcome const branch = fit_mlp(where, stopped, 13, {}, {}, {.lr = 0.1});
  REQUIRE(branch.code == 75);
  CHECK(branch.log.find("does not continue are renamed to .older-*: step_10, step_8, step_6\n") != std::string::npos);
  CHECK(redco::workdir::read_manifest(ckpts / "step_6").branch.step == 4);
  for (char const* const older : {".older-step_6", ".older-step_8", ".older-step_10"})
    CHECK(redco::workdir::read_manifest(ckpts / older).branch.path.empty());
  // A scheduler starts the command again, then --resume auto.
  mlp_options next = stopped;
  next.on_step = [](redco::fit_event const& e) {
    if (e.step == 7) std::raise(SIGUSR1);
  };
  outcome const again = fit_mlp(where, next, 13, {}, {}, {.lr = 0.1});
  CHECK(again.losses.size() == 2);
  CHECK(again.log.find("continues the branch that began at " + where.resume + " after step 4") != std::string::npos);
  CHECK(fit_mlp(resume_at(folder.path), o, 13, {}, {}, {.lr = 0.1}).losses.size() == 2);
  CHECK(fit_mlp(where, o, 13, {}, {}, {.lr = 0.1}).losses.empty());
  // A start that has nothing to train moves nothing.
  o.max_steps = 6;
  where.resume = (ckpts / "step_6").string();
  CHECK(fit_mlp(where, o, 13, {}, {}, {.lr = 0.1}).losses.empty());
  CHECK(std::filesystem::exists(ckpts / "step_10"));
}

TEST_CASE("a checkpoint of another model is refused with the differences") {
  temporary_folder folder;
  REQUIRE(fit_mlp(in(folder.path), resume_options(3)).code == 0);
  outcome const data = fit_mlp(resume_at(folder.path), resume_options(5), 14);
  CHECK(data.code == 65);
  CHECK(run_test::mentions(data, "13"));
  CHECK(run_test::mentions(data, "14"));
  outcome const wider = fit_mlp(resume_at(folder.path, {.dp = 2}), resume_options(5), 13, {}, {{.hidden = 6}});
  CHECK(wider.code == 65);
  CHECK(run_test::mentions(wider, "weight"));
  CHECK(run_test::mentions(wider, "[12, 5]"));
  CHECK(run_test::mentions(wider, "[6, 5]"));
}

TEST_CASE(
    "a resumed run notices other examples of equal number and another program, and --strict-resume refuses them") {
  temporary_folder folder;
  mlp_options const o = resume_options(0);
  REQUIRE(fit_mlp(resume_at(folder.path, {.dp = 2}), resume_options(6)).code == 0);
  auto const last = folder.path / "ckpts" / "step_6" / "manifest.json";
  redco::workdir::manifest const saved = redco::workdir::read_manifest(last.parent_path());
  CHECK(saved.digests.size() == 3);
  redco::deployer_options strict = resume_at(folder.path, {.tp = 2});
  strict.strict_resume = true;
  CHECK(fit_mlp(strict, resume_options(6)).code == 0);  // equal on another mesh
  auto const with_data = [&](redco::deployer_options const& where, std::int64_t changed, mlp_options const& how) {
    auto data = run_test::numbers(13);
    data[static_cast<std::size_t>(changed)] += 100;
    return run_test::fit(where, run_test::mlp{}, run_test::mlp_pipeline(), data, how);
  };
  for (std::int64_t const changed : {0, 7, 12}) {
    outcome const refused = with_data(strict, changed, o);
    CHECK(refused.code == 65);
    CHECK(run_test::mentions(refused, "another or changed training examples (digest "));
    CHECK(run_test::mentions(refused, "--strict-resume"));
    CHECK_FALSE(run_test::mentions(refused, "evaluation"));
  }
  // A run that has nothing left to train warns, too.
  outcome const ended = with_data(resume_at(folder.path), 7, resume_options(6));
  CHECK(ended.code == 0);
  CHECK(ended.log.find("another or changed training examples") != std::string::npos);
  mlp_options other_eval = resume_options(6);
  other_eval.eval = std::vector<std::int64_t>{0, 1, 2, 3, 5};
  CHECK(run_test::mentions(fit_mlp(strict, other_eval), "another or changed evaluation examples"));
  redco::workdir::manifest of_other = saved;
  of_other.digests["program file"] = "0123456789abcdef";
  std::ofstream(last) << redco::workdir::write_manifest(of_other);
  outcome const program = fit_mlp(strict, o);
  CHECK(program.code == 65);
  CHECK(run_test::mentions(program, "another or changed program file"));
  CHECK(fit_mlp(resume_at(folder.path), o).warnings == 2);  // and max_steps
}

TEST_CASE("a resumed run lists settings that differ from its checkpoint's and continues") {
  auto const cosine = redco::cosine{.peak = 0.1, .warmup = 2};
  mlp_options const o = resume_options(0);
  struct change {
    redco::adamw optimizer;
    std::string changes;
  };
  for (change const& c : {change{{.lr = 0.1}, "optimizer.lr is 0.1, was 0.02\n"},
                          {{.lr = cosine}, "optimizer.lr is cosine peak 0.1 warmup 2, was 0.02\n"},
                          {{.lr = 0.02, .weight_decay = 0.5, .clip_norm = 1.5},
                           "optimizer.clip_norm is 1.5, was 0; optimizer.weight_decay is 0.5, was 0.01\n"},
                          {{.lr = 0.02}, ""}}) {
    temporary_folder folder;
    mlp_options first = o;
    first.on_step = [](redco::fit_event const& e) {
      if (e.step == 3) std::raise(SIGUSR1);
    };
    REQUIRE(fit_mlp(in(folder.path), first).code == 75);
    outcome const rest = fit_mlp(resume_at(folder.path), o, 13, {}, {}, c.optimizer);
    CHECK(rest.code == 0);
    CHECK(rest.losses.size() == 8);
    CHECK(rest.warnings == (c.changes.empty() ? 0 : 1));
    CHECK(rest.log.find("settings that differ from the checkpoint's: " + c.changes) ==
          rest.log.find("settings that differ"));
  }
}

TEST_CASE("a resumed run reports that its schedule's function gives other rates") {
  mlp_options const o = resume_options(0);
  auto const rates = [](std::int64_t, std::int64_t) { return 0.02; };
  auto const falling = [](std::int64_t step, std::int64_t) { return step < 8 ? 0.02 : 0.01; };
  temporary_folder folder;
  REQUIRE(fit_mlp(resume_at(folder.path), resume_options(5), 13, {}, {}, {.lr = rates}).code == 0);
  outcome const same = fit_mlp(resume_at(folder.path), resume_options(5), 13, {}, {}, {.lr = rates});
  CHECK(same.log.find("settings that differ") == std::string::npos);
  outcome const rest = fit_mlp(resume_at(folder.path), o, 13, {}, {}, {.lr = falling});
  CHECK(rest.losses.size() == 7);
  CHECK(rest.log.find(
            "settings that differ from the checkpoint's: max_steps is 0, was 5; optimizer.lr at the end is 0.01, was "
            "0.02\n") != std::string::npos);
}

TEST_CASE("a resumed run may change its batch: every example of the epoch is still seen once; the seed stays") {
  temporary_folder folder;
  std::mutex guard;
  std::vector<std::int64_t> seen;
  run_test::behaviour how;
  how.collate = [&](std::span<std::int64_t const> ids, redco::pipelines::collate_info const&) {
    std::lock_guard const lock(guard);
    seen.insert(seen.end(), ids.begin(), ids.end());
  };
  mlp_options o = resume_options(2);
  o.eval = {};
  o.prefetch = 0;
  o.epochs = 1;
  REQUIRE(fit_mlp(resume_at(folder.path), o, 13, how).code == 0);
  o.max_steps = 0;
  o.global_batch = 3;
  redco::deployer_options where = resume_at(folder.path, {.dp = 3});
  where.seed = 5;
  outcome const rest = fit_mlp(where, o, 13, how);
  CHECK(rest.code == 0);
  CHECK(rest.losses.size() == 2);
  CHECK(rest.warnings == 2);
  CHECK(rest.log.find("seed 42") != std::string::npos);
  CHECK(rest.log.find("global_batch is 3, was 4; max_steps is 0, was 2\n") != std::string::npos);
  std::sort(seen.begin(), seen.end());
  CHECK(seen == run_test::numbers(13));
}

namespace {

using number_view = redco::data::example_view<std::int64_t>;
using window = std::vector<std::int64_t>;

/// Writes `count` ids below 251 to a token file.
redco::data::token_file tokens(std::filesystem::path const& path, std::int64_t count, std::int64_t factor) {
  redco::data::token_writer out(path, {.vocabulary = 251, .end = 0});
  for (std::int64_t i = 1; i <= count; ++i) out.append(window{i * factor % 251});
  out.finish();
  return {path, 5};
}

/// Returns a number of the tokens and of the epoch's random numbers.
std::int64_t drawn(window const& tokens, redco::random::stream s) {
  return 100 * tokens.front() + std::ssize(tokens) + static_cast<std::int64_t>(redco::random::below(s, 0, 90));
}

/// The example of each step and index in the global batch, as a run collates them.
using collated = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

/// Fits to a view up to a number of steps, and records the examples.
outcome fit_view(redco::deployer_options const& where, mlp_options const& o, number_view const& data, collated& seen) {
  std::mutex guard;
  run_test::behaviour how;
  how.collate = [&](std::span<std::int64_t const> ids, redco::pipelines::collate_info const& info) {
    std::lock_guard const lock(guard);
    for (std::size_t i = 0; i < ids.size(); ++i)
      seen[{static_cast<std::int64_t>(info.step), info.first_example + static_cast<std::int64_t>(i)}] = ids[i];
  };
  return run_test::fit(where, run_test::mlp{}, run_test::mlp_pipeline(how), data, o);
}

/// Returns the examples of two epochs with 4 examples of a step, in the order of the sampler.
collated in_keyed_order(number_view const& data, std::uint64_t seed) {
  auto const size = std::ssize(data), steps = (size + 3) / 4;
  redco::data::sampler const order(size, seed);
  collated expected;
  for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
    redco::data::reading_epoch const reading(epoch);
    for (std::int64_t at = 0; at < size; ++at)
      expected[{epoch * steps + at / 4, at % 4}] = data[static_cast<std::ptrdiff_t>(order.at(epoch, at))];
  }
  return expected;
}

}  // namespace

TEST_CASE("token files, mixtures and packed views are read in the keyed order and resumed exactly, on every mesh") {
  temporary_folder files;
  auto const web = tokens(files / "web.ids", 42, 37), books = tokens(files / "books.ids", 27, 101);
  std::vector<window> const documents{{5, 6, 7}, {9, 1}, {}, {4}, {3, 8, 2, 7, 9, 9, 1}, {12, 11}};
  redco::data::mixture const mixed({.weights = {0.7, 0.3}, .seed = 3}, web, books);
  auto const packed = documents | redco::data::pack(2) |
                      redco::data::augment([](redco::data::packed_example const& one, redco::random::stream s) {
                        return drawn(one.tokens, s) + 1000 * std::ssize(one.starts);
                      });
  for (number_view const& data : {web | redco::data::augment(drawn), mixed | redco::data::augment(drawn), packed}) {
    INFO(data.size() << " examples");
    mlp_options o = resume_options(0);
    o.epochs = 2;
    o.eval = {};
    auto const at = [](std::filesystem::path const& workdir, redco::mesh mesh = {.dp = 1}) {
      redco::deployer_options where = resume_at(workdir, mesh);
      where.seed = 11;
      return where;
    };
    temporary_folder whole, broken, divided;
    collated unbroken_order, order, divided_order;
    outcome const unbroken = fit_view(at(whole.path), o, data, unbroken_order);
    REQUIRE(unbroken.reason.empty());
    CHECK(unbroken_order == in_keyed_order(data, 11));
    std::vector<double> losses;
    outcome part;
    for (std::int64_t const stop : {1, 2, 3, 0}) {
      o.max_steps = stop;
      part = fit_view(at(broken.path), o, data, order);
      REQUIRE(part.code == 0);
      losses.insert(losses.end(), part.losses.begin(), part.losses.end());
    }
    CHECK(losses == unbroken.losses);
    CHECK(run_test::bit_equal(part.state, unbroken.state));
    CHECK(order == unbroken_order);
    o.micro_batch = 1;
    o.collate_threads = 3;
    CHECK(run_test::difference(unbroken.losses, fit_view(at(divided.path, {.dp = 2}), o, data, divided_order).losses) <
          1e-12);
    CHECK(divided_order == unbroken_order);
  }
}

TEST_CASE("examples that change from epoch to epoch are resumed at the end of one and within one") {
  temporary_folder whole, broken;
  mlp_options o = resume_options(0);
  o.epochs = 2;
  o.train_of_epoch = [](int epoch) {
    if (epoch > 1) throw std::out_of_range("there is no third epoch");
    auto all = run_test::numbers(epoch == 0 ? 9 : 6);
    for (std::int64_t& one : all) one += 100 * epoch;
    return redco::examples<std::int64_t>(std::move(all));
  };
  outcome const unbroken = fit_mlp(in(whole.path), o, 0);
  REQUIRE(unbroken.code == 0);
  REQUIRE(unbroken.losses.size() == 5);
  std::vector<double> losses;
  for (std::int64_t const stop : {2, 3, 4, 5, 9}) {
    o.max_steps = stop;
    outcome const part = fit_mlp(resume_at(broken.path), o, 0);
    INFO(part.reason);
    REQUIRE(part.code == 0);
    losses.insert(losses.end(), part.losses.begin(), part.losses.end());
  }
  CHECK(losses == unbroken.losses);
}

namespace {

/// Fits to the end, or to a signal after step `stop`. `seen` records the steps and is kept in
/// checkpoints.
int fit_with_memory(redco::deployer_options const& where, std::vector<std::int64_t>& seen, std::int64_t stop,
                    bool twice = false) {
  run_test::plain_signals const plain;
  run_test::silence const quiet;
  return run_test::code_of([&] {
    redco::deployer deployer(where);
    redco::trainer trainer(deployer, run_test::mlp{}, run_test::mlp_pipeline(), redco::adamw{});
    trainer.keep("seen", seen);
    if (twice) trainer.keep("seen", seen);
    mlp_options o = resume_options(5);
    o.on_step = [&](redco::fit_event const& e) {
      seen.push_back(e.step);
      if (e.step == stop) std::raise(SIGTERM);
    };
    trainer.fit(run_test::numbers(13), o);
  });
}

}  // namespace

TEST_CASE("a fit saves objects of the program in its checkpoints and reads them once per process") {
  temporary_folder folder, other;
  std::vector<std::int64_t> seen;
  // The next step is the first that sees the signal
  CHECK(fit_with_memory(resume_at(folder.path, {.dp = 2}), seen, 2) == 75);
  CHECK(seen == std::vector<std::int64_t>{1, 2, 3});
  seen = {-1};
  CHECK(fit_with_memory(resume_at(folder.path, {.tp = 2}), seen, 0) == 0);
  CHECK(seen == std::vector<std::int64_t>{1, 2, 3, 4, 5});
  CHECK(fit_with_memory(resume_at(other.path), seen, 0, true) == 64);
  REQUIRE(fit_mlp(in(other.path), resume_options(5)).code == 0);
  CHECK(fit_with_memory(resume_at(other.path), seen, 0) == 65);  // its checkpoint keeps no objects
}
