#include "catch.hpp"
#include "safetensors/support.hpp"

#include <redco/workdir/branch.hpp>
#include <redco/workdir/find_checkpoint.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/workdir/repair_checkpoints.hpp>
#include <redco/workdir/workdir_lock.hpp>

#include "saved_bytes.hpp"
#include "workdir/recording_ops.hpp"

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace {

using ckpt_test::save_bytes;
using redco::workdir::manifest;

/// A workdir as successive starts of a program see it.
struct program {
  std::filesystem::path workdir;
  std::string warnings = {};
  manifest::branch_facts branch = {};

  /// Starts a run with --resume `resume`; returns the step from which it continues, -1 for a new
  /// run. A run with `trains` set has steps to do.
  std::int64_t start(std::string const& resume, bool trains = true) {
    redco::workdir::workdir_lock const lock(workdir);
    redco::workdir::sweep_checkpoints(lock, "run-c");
    warnings.clear();
    auto const found = redco::workdir::find_checkpoint(
        workdir, resume, {.branches = true, .warn = [&](std::string const& text) { warnings += text; }});
    branch = found ? found->facts.branch : manifest::branch_facts{};
    if (found) redco::workdir::repair_checkpoints(lock, *found);
    if (trains) redco::workdir::set_older_aside(lock, found ? found->directory : "", branch);
    return found ? found->facts.step : -1;
  }

  void save(std::int64_t step, std::string const& run = "run-a", std::vector<std::string> const& names = {}) {
    save_bytes(workdir, step, run, names, branch);
  }

  /// Returns the names in ckpts/ in alphabetical order, without the pointers to the newest
  /// checkpoint.
  std::vector<std::string> names() const {
    std::set<std::string> all;
    for (auto const& entry : std::filesystem::directory_iterator(workdir / "ckpts"))
      all.insert(entry.path().filename().string());
    all.erase("last");
    all.erase("last_ckpt.txt");
    return {all.begin(), all.end()};
  }
};

using list = std::vector<std::string>;

}  // namespace

TEST_CASE("after a resume from an older step, auto and the path given again continue the new branch") {
  temporary_folder const folder;
  program run{folder / "run"};
  REQUIRE(run.start("auto") == -1);
  for (std::int64_t const step : {2, 4, 6, 8, 10}) run.save(step, "run-a", step == 8 ? list{"min_loss"} : list{});
  std::string const path = (folder / "run/ckpts/step_4").string();
  CHECK(run.start(path) == 4);
  CHECK(run.names() == list{".older-step_10", ".older-step_6", ".older-step_8", "step_2", "step_4"});
  CHECK(run.branch == manifest::branch_facts{redco::workdir::branch_path(path), 4});
  CHECK(run.start("auto") == 4);  // killed before its first save
  CHECK(run.start(path) == 4);
  run.save(6);
  CHECK(run.start("auto") == 6);
  CHECK(run.branch.step == 4);
  CHECK(run.start((folder / "run/ckpts/../ckpts/step_4/").string()) == 6);
  run.save(8);
  std::filesystem::remove_all(path);  // by retention
  CHECK(run.start(path) == 8);
  // Another path begins another branch.
  CHECK(run.start((folder / "run/ckpts/step_6").string()) == 6);
  CHECK(run.names() == list{".older-step_10", ".older-step_6", ".older-step_8", ".older-step_8-2", "step_2", "step_6"});
  CHECK(ckpt_test::get(folder / "run/ckpts/last_ckpt.txt") == "step_6\n");
}

TEST_CASE("a path that named the newest checkpoint continues the run when it is given again") {
  temporary_folder const folder;
  program run{folder / "run"};
  run.start("none");
  run.save(4, "run-a", {"min_loss"});
  for (std::string const name : {"step_4", "min_loss"}) {
    std::string const path = (folder / "run/ckpts" / name).string();
    CHECK(run.start(path) >= 4);
    run.save(name == "step_4" ? 6 : 8);
    CHECK(run.start(path) == (name == "step_4" ? 6 : 8));
    std::filesystem::remove(folder / "run/ckpts/min_loss");
    std::filesystem::create_symlink("step_6", folder / "run/ckpts/min_loss");
  }
  CHECK(run.names() == list{"min_loss", "step_4", "step_6", "step_8"});
}

TEST_CASE("a branch that begins in another workdir is continued there, also after a kill before its first save") {
  temporary_folder const folder;
  program first{folder / "first"}, other{folder / "other"};
  first.start("none");
  for (std::int64_t const step : {4, 8}) first.save(step);
  other.start("none");
  other.save(20, "run-b", {"min_loss"});
  std::string const path = (folder / "first/ckpts/step_4").string();
  CHECK(other.start(path) == 4);
  CHECK(other.names() == list{".branch", ".older-step_20"});
  CHECK(other.start("auto") == 4);
  CHECK(other.start(path) == 4);
  other.save(6);
  CHECK(other.start("auto") == 6);
  CHECK(other.start(path) == 6);
  CHECK(other.names() == list{".older-step_20", "step_6"});
  CHECK(first.names() == list{"step_4", "step_8"});
  // The path of a workdir
  CHECK(other.start((folder / "first").string()) == 8);
  other.save(9);
  CHECK(other.start((folder / "first").string()) == 9);
}

TEST_CASE("a new run moves the checkpoints of older runs aside and never replaces them") {
  temporary_folder const folder;
  program run{folder / "run"};
  run.start("none");
  for (std::int64_t const step : {4, 8}) run.save(step, "run-old", {"epoch_0"});
  CHECK(run.start("none", false) == -1);
  CHECK(run.names() == list{"epoch_0", "step_4", "step_8"});
  CHECK(run.start("none") == -1);
  CHECK(run.names() == list{".older-step_4", ".older-step_8"});
  CHECK_FALSE(std::filesystem::exists(folder / "run/ckpts/last_ckpt.txt"));
  CHECK(run.start("auto") == -1);
  CHECK(ckpt_test::has(run.warnings, ".older-step_"));
  run.save(4, "run-new");
  CHECK(redco::workdir::read_manifest(folder / "run/ckpts/.older-step_4").run == "run-old");
  CHECK(run.start("auto") == 4);
  // An older run is continued from where it is kept.
  std::string const kept = (folder / "run/ckpts/.older-step_8").string();
  CHECK(run.start(kept) == 8);
  run.save(10, "run-old");
  CHECK(run.start(kept) == 10);
  CHECK(run.names() == list{".older-step_4", ".older-step_4-2", ".older-step_8", "step_10"});
}

TEST_CASE("steps of other runs and of abandoned branches do not stay below the step of a resumed run") {
  temporary_folder const folder;
  program run{folder / "run"};
  run.start("none");
  run.save(3, "run-old");
  run.save(500, "run-old");
  run.save(4);
  run.branch = {"/elsewhere/step_4", 4};
  run.save(6);
  run.save(7);
  run.branch = {"/elsewhere/step_6", 6};
  run.save(8);
  std::filesystem::create_directory(folder / "run/ckpts/step_2");  // damaged: a search reports it
  CHECK(run.start("auto") == 8);
  CHECK(run.names() ==
        list{".older-step_3", ".older-step_500", ".older-step_7", "step_2", "step_4", "step_6", "step_8"});
}

TEST_CASE("a move of checkpoints that stops at any call is completed by the next start") {
  temporary_folder const folder;
  int calls = 1;
  for (int fail = 0; fail < calls; ++fail) {
    std::filesystem::path const workdir = folder / std::to_string(fail);
    program run{workdir};
    run.start("none");
    for (std::int64_t const step : {4, 8, 10}) run.save(step, "run-a", step == 8 ? list{"min_loss"} : list{});
    ckpt_test::recording_ops ops(workdir);
    ops.fail_at = fail;
    redco::safetensors::disk disk(ops);
    auto const stopped = ckpt_test::error_of([&] {
      redco::workdir::begin_branch(disk, workdir / "ckpts", {"", {"step_10", "step_8"}});
    });
    INFO("call " << fail << ": " << ops.log.back());
    CHECK(stopped.code == redco::exit_code::io);
    bool const noted = std::filesystem::exists(workdir / "ckpts/.branch");
    auto const names = run.names();
    bool const before = !noted && names.size() > 2 && names.back() == "step_8";
    CHECK(run.start("auto") == (before ? 10 : 4));
    if (!before) CHECK(run.names() == list{".older-step_10", ".older-step_8", "step_4"});
    if (fail == 0) {
      ops.fail_at = -1;
      ops.log.clear();
      redco::workdir::begin_branch(disk, workdir / "ckpts", {"", {"step_10", "step_8"}});
      calls = static_cast<int>(ops.log.size());
      CHECK(calls > 8);
    }
  }
}

TEST_CASE("a path with any bytes is kept in a manifest") {
  std::filesystem::path const path = "/a b\n%41\xff\xc3\xa4/step_4";
  std::string const text = redco::workdir::branch_path(path);
  CHECK(text == "/a%20b%0A%2541%FF%C3%A4/step_4");
  CHECK(redco::workdir::path_of_branch(text) == path);
  CHECK(redco::workdir::path_of_branch("%zz%4") == "%zz%4");
}
