#include "mlp.hpp"

#include "diag/child.hpp"

#include <redco/run/main_of.hpp>
#include <redco/diag/crash_report.hpp>
#include <redco/diag/run_position.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

namespace crash_report_test {

using run_test::behaviour;
using run_test::ended_child;
using run_test::in;
using run_test::mlp_options;

char const* const child_case = "a program that ends in the middle";

int descend(int depth) {
  if (depth < 0) return 0;
  int volatile room[1024] = {};
  room[depth % 1024] = depth;
  return descend(depth + 1) + room[(depth + 1) % 1024];
}

[[noreturn]] void give_up() { throw redco::error(redco::exit_code::data, "thrown where nothing may be"); }

/// Ends the process on rank 1 in the third step, in the way that `mode` names.
void end_here(std::string_view mode) {
  redco::diag::run_position const here = redco::diag::run_position::here();
  if (here.rank != 1 || here.step != 2) return;
  if (mode == "segv") {
    std::uintptr_t volatile const nowhere = 8;
    *reinterpret_cast<int volatile*>(nowhere) = 1;
  } else if (mode == "stack") {
    std::exit(descend(0) == 7 ? 3 : 4);
  } else if (mode == "abort") {
    std::abort();
  } else if (mode == "exit") {
    std::exit(0);
  } else if (mode == "memory") {
    [] { return at::empty({std::int64_t{1} << 60}); }();
  } else if (mode == "throw") {
    []() noexcept { give_up(); }();
  }
}

/// Runs one fit with the child's mode and returns its exit code.
int fit_of(std::string const& mode, std::filesystem::path const& workdir) {
  behaviour how;
  if (mode == "abort") {
    how.collate = [mode](auto, auto const&) { end_here(mode); };
  } else {
    how.loss = [mode](at::Tensor const& each, run_test::mlp_batch const&) {
      end_here(mode);
      return each.sum();
    };
  }
  mlp_options o;
  o.epochs = 2;
  o.global_batch = 4;
  o.on_step = [mode](redco::fit_event const& e) {
    if (e.step != 2) return;
    if (mode == "hangup") ::raise(SIGHUP);
    if (mode != "twice") return;
    ::raise(SIGTERM);
    // A signal after this time would be a second request
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
  };
  char const* const program = "child";
  int const code = redco::main_of<redco::deployer_options>(1, &program, [&](redco::deployer_options const&) {
    redco::deployer deployer(in(workdir, {.dp = 2}));
    run_test::trainer_of<run_test::mlp, decltype(run_test::mlp_pipeline())> trainer(
        deployer, {}, run_test::mlp_pipeline(how), redco::adamw{.lr = 0.02});
    trainer.fit(run_test::numbers(13), o);
  });
  if (mode == "twice") ::raise(SIGTERM);
  return code;
}

TEST_CASE("a program that ends in the middle", "[.child]") {
  char const* const mode = std::getenv("REDCO_CHILD");
  char const* const workdir = std::getenv("REDCO_CHILD_WORKDIR");
  if (mode == nullptr || workdir == nullptr) return;
  run_test::forget_handlers();
  rlimit no_core{};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (std::string_view(mode) == "size") {
    rlimit const small{1024, 1024};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  int const code = fit_of(mode, workdir);
  if (std::string_view(mode) == "twice") ::raise(SIGTERM);
  ::_exit(code);
}

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

// The sanitizers' runtimes handle such signals themselves
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a fault, abort, exit or an uncaught exception in a user's function is one line with its location") {
  struct {
    char const* mode;
    int code, signal;
    char const* line;
  } const cases[] = {{"segv", -1, SIGSEGV, "error: rank 1: step 3, in loss: SIGSEGV"},
                     {"stack", -1, SIGSEGV, "error: rank 1: step 3, in loss: SIGSEGV"},
                     {"abort", -1, SIGABRT, "error: rank 1: step 3, in collate: SIGABRT"},
                     {"exit", 70, 0, "error: rank 1: step 3, in loss: exit() was called"},
                     {"throw", 65, 0, "error: rank 1: step 3, in loss: thrown where nothing may be"}};
  for (auto const& one : cases) {
    INFO(one.mode);
    temporary_folder folder;
    ended_child const child = run_test::run_child(child_case, one.mode, folder.path);
    INFO(child.out);
    CHECK(child.code == one.code);
    CHECK(child.signal == one.signal);
    CHECK(has(child.out, one.line));
    CHECK(has(content_of(folder / "log.txt"), one.line));
    CHECK(has(content_of(folder / "failures.log"), "3 rank 1: step 3, in "));
  }
}

TEST_CASE("running out of memory inside libtorch is reported with rank, step and function") {
  temporary_folder folder;
  ended_child const child = run_test::run_child(child_case, "memory", folder.path);
  INFO(child.out);
  CHECK(child.code == 70);
  CHECK(has(child.out, "can't allocate memory"));
  CHECK(has(child.out, "rank 1: step 3, in loss: "));
  CHECK(has(content_of(folder / "log.txt"), "rank 1: step 3, in loss: "));
}

TEST_CASE("a closed pipe does not end a run") {
  temporary_folder folder;
  int ends[2] = {};
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[0]);
  ended_child const child = run_test::run_child(child_case, "pipe", folder.path, ends[1]);
  ::close(ends[1]);
  CHECK(child.signal == 0);
  CHECK(child.code == 0);
  std::string const log = content_of(folder / "log.txt");
  CHECK(has(log, "warning: the console cannot be written"));
  CHECK(std::filesystem::exists(folder / "ckpts" / "last"));
}

TEST_CASE("a file size limit is an I/O error, not a signal") {
  temporary_folder folder;
  int ends[2] = {};
  REQUIRE(::pipe(ends) == 0);  // a pipe has no size limit
  ended_child const child = run_test::run_child(child_case, "size", folder.path, ends[1]);
  ::close(ends[1]);
  std::string out(1 << 16, ' ');
  out.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(ends[0], out.data(), out.size()))));
  ::close(ends[0]);
  INFO(out);
  CHECK(child.signal == 0);
  CHECK(child.code == 74);
  CHECK(has(out, "File too large"));
  CHECK(has(out, "exit 74"));
}

TEST_CASE("SIGHUP is a request to stop") {
  temporary_folder folder;
  ended_child const child = run_test::run_child(child_case, "hangup", folder.path);
  INFO(child.out);
  CHECK(child.code == 75);
  CHECK(has(child.out, "PREEMPTED (SIGHUP)"));
  CHECK(std::filesystem::exists(folder / "ckpts" / "last"));
}

TEST_CASE("a repeated stop request after the summary of exit code 75 changes nothing") {
  temporary_folder folder;
  ended_child const child = run_test::run_child(child_case, "twice", folder.path);
  INFO(child.out);
  CHECK(child.signal == 0);
  CHECK(child.code == 75);
}
#endif

}  // namespace crash_report_test
