#include "catch.hpp"
#include "safetensors/support.hpp"

#include <redco/workdir/older_rows.hpp>
#include <redco/workdir/run_recorder.hpp>
#include <redco/log/console.hpp>
#include <redco/log/metrics_log.hpp>
#include <redco/log/run_log.hpp>

#include "workdir/recording_ops.hpp"

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include <sys/resource.h>

namespace {

using ckpt_test::get;
using ckpt_test::put;

std::string rows(int first, int last, std::string const& loss = "2.5") {
  std::string text;
  for (int step = first; step <= last; ++step)
    text += "{\"step\":" + std::to_string(step) + ",\"loss\":" + loss + "}\n";
  return text;
}

/// Returns the names in a folder in alphabetical order, separated by spaces.
std::string names_in(std::filesystem::path const& folder) {
  std::set<std::string> names;
  for (auto const& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  std::string all;
  for (std::string const& name : names) all += (all.empty() ? "" : " ") + name;
  return all;
}

/// A scope in which every write to a file fails after 10 bytes.
struct small_files {
  ::rlimit before{};
  void (*action)(int) = std::signal(SIGXFSZ, SIG_IGN);
  small_files() {
    ::getrlimit(RLIMIT_FSIZE, &before);
    ::rlimit small = before;
    small.rlim_cur = 10;
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  small_files(small_files const&) = delete;
  small_files& operator=(small_files const&) = delete;
  ~small_files() {
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, action);
  }
};

/// Keeps the older rows of a folder's metrics.jsonl and returns the name of their file.
std::string keep(std::filesystem::path const& folder, std::int64_t last_step) {
  redco::safetensors::posix_file_ops ops;
  redco::safetensors::disk disk(ops);
  return redco::workdir::keep_older_rows(disk, folder / "metrics.jsonl", last_step).filename().string();
}

}  // namespace

TEST_CASE("rows after the step from which a run continues are kept under a name that nothing has") {
  temporary_folder const folder;
  CHECK(keep(folder.path, 4).empty());
  put(folder / "metrics.jsonl", rows(1, 4));
  CHECK(keep(folder.path, 4).empty());
  CHECK(names_in(folder.path) == "metrics.jsonl");
  put(folder / "metrics.jsonl", rows(1, 7) + "{\"step\":8,\"lo");
  CHECK(keep(folder.path, 4) == "metrics.older-step_4.jsonl");
  CHECK(get(folder / "metrics.older-step_4.jsonl") == rows(5, 7));
  CHECK(get(folder / "metrics.jsonl") == rows(1, 7) + "{\"step\":8,\"lo");
  // A start that was killed before it cut the file keeps no second copy.
  CHECK(keep(folder.path, 4) == "metrics.older-step_4.jsonl");
  put(folder / "metrics.jsonl", rows(1, 6, "3"));
  CHECK(keep(folder.path, 4) == "metrics.older-step_4-2.jsonl");
  CHECK(keep(folder.path, 0) == "metrics.older-step_0.jsonl");
  CHECK(get(folder / "metrics.older-step_4.jsonl") == rows(5, 7));
  CHECK(get(folder / "metrics.older-step_4-2.jsonl") == rows(5, 6, "3"));
  CHECK(get(folder / "metrics.older-step_0.jsonl") == rows(1, 6, "3"));
}

TEST_CASE("a disk that fails at any call while older rows are kept loses no row") {
  temporary_folder const folder;
  int calls = 1;
  for (int fail = -1; fail < calls; ++fail) {
    std::filesystem::path const workdir = folder / std::to_string(fail);
    std::filesystem::create_directory(workdir);
    put(workdir / "metrics.jsonl", rows(1, 7));
    ckpt_test::recording_ops ops(workdir);
    ops.fail_at = fail;
    redco::safetensors::disk disk(ops);
    auto const stopped =
        ckpt_test::error_of([&] { redco::workdir::keep_older_rows(disk, workdir / "metrics.jsonl", 4); });
    INFO("call " << fail << ": " << ops.log.back());
    CHECK(get(workdir / "metrics.jsonl") == rows(1, 7));
    if (fail < 0) {
      calls = static_cast<int>(ops.log.size());
      CHECK(calls > 4);
    } else {
      CHECK(stopped.code == redco::exit_code::io);
    }
    CHECK(keep(workdir, 4) == "metrics.older-step_4.jsonl");
    CHECK(names_in(workdir) == "metrics.jsonl metrics.older-step_4.jsonl");
    CHECK(get(workdir / "metrics.older-step_4.jsonl") == rows(5, 7));
  }
}

TEST_CASE("a run that continues an older step names the file of the rows that it cuts off") {
  temporary_folder const folder;
  std::ostringstream text;
  redco::log::console console({.out = &text});
  redco::log::run_log log(console);
  auto const start = [&](std::int64_t step) {
    redco::workdir::run_recorder(console, log, folder.path, step, "tokens");
    return get(folder / "metrics.jsonl");
  };
  put(folder / "metrics.jsonl", rows(1, 10));
  CHECK(start(4) == rows(1, 4));
  CHECK(get(folder / "metrics.older-step_4.jsonl") == rows(5, 10));
  CHECK(ckpt_test::has(text.str(), "metrics.older-step_4.jsonl"));
  CHECK(start(0).empty());
  CHECK(get(folder / "metrics.older-step_0.jsonl") == rows(1, 4));
  CHECK(log.warnings() == 0);
  // Rows that cannot be copied stay.
  put(folder / "metrics.jsonl", rows(1, 6));
  {
    small_files const full;
    start(2);
  }
  CHECK(get(folder / "metrics.jsonl") == rows(1, 6));
  CHECK(log.warnings() == 1);
  CHECK(ckpt_test::has(text.str(), "cannot be copied"));
}
