#include "catch.hpp"
#include "diag/child.hpp"
#include "temporary_folder.hpp"

#include <redco/diag/crash_report.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/run_position.hpp>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace {

char const* const child_case = "a process that ends on a rank's thread";

/// Takes all memory that a limit of 64 MiB more than now leaves, then still some of the reserve.
[[noreturn]] void exhaust_memory() {
  std::ifstream pages("/proc/self/statm");
  std::uint64_t now = 0;
  pages >> now;
  rlimit const limit{now * 4096 + (std::uint64_t{64} << 20), RLIM_INFINITY};
  ::setrlimit(RLIMIT_AS, &limit);
  std::vector<std::unique_ptr<char[]>> all;
  all.reserve(4096);
  try {
    while (true) all.push_back(std::make_unique<char[]>(std::size_t{1} << 20));
  } catch (std::bad_alloc const&) {
  }
  auto const more = std::make_unique<char[]>(std::size_t{8} << 20);
  throw redco::error(redco::exit_code::data,
                     "memory for a report, after " + std::string(all.size() > 8 ? "all" : "none"));
}

void end_as(std::string_view mode) {
  if (mode == "memory") exhaust_memory();
  if (mode == "abort") std::abort();
  if (mode == "exit") std::exit(0);
  if (mode == "error") throw redco::error(redco::exit_code::data, "no data\nat all");
  if (mode == "words") throw std::runtime_error("at length");
}

}  // namespace

TEST_CASE("a process that ends on a rank's thread", "[.child]") {
  char const* const mode = std::getenv("REDCO_CHILD");
  char const* const workdir = std::getenv("REDCO_CHILD_WORKDIR");
  if (mode == nullptr || workdir == nullptr) return;
  run_test::forget_handlers();
  rlimit no_core{};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::filesystem::path const folder = workdir;
  redco::diag::crash_report words([](std::exception const&) noexcept { return "in short"; });
  words.keep(folder / "log.txt", folder / "failures.log");
  std::thread([mode] {
    redco::diag::crash_report::rank_thread const rank(3);
    redco::diag::run_position::begin_step(4);
    redco::diag::in_user_function const here("collate", 4);
    end_as(mode);
  }).join();
  ::_exit(9);
}

// The sanitizers' runtimes handle such signals themselves
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("the end of a process is one line with rank, step and function, on its output and in its files") {
  struct {
    char const* mode;
    int code, signal;
    char const* reason;
  } const cases[] = {{"abort", -1, SIGABRT, "SIGABRT (abort)"},
                     {"exit", 70, 0, "exit() was called; return or throw instead"},
                     {"error", 65, 0, "no data at all"},
                     {"words", 70, 0, "in short"},
                     {"memory", 65, 0, "memory for a report, after all"}};
  for (auto const& one : cases) {
    INFO(one.mode);
    temporary_folder const folder;
    std::ofstream(folder / "log.txt") << "before\n";
    run_test::ended_child const child = run_test::run_child(child_case, one.mode, folder.path);
    INFO(child.out);
    CHECK(child.code == one.code);
    CHECK(child.signal == one.signal);
    std::string const line = std::string("rank 3: step 5, in collate: ") + one.reason + "\n";
    CHECK(child.out.find("error: " + line) != std::string::npos);
    CHECK(content_of(folder / "log.txt") == "before\nerror: " + line);
    CHECK(content_of(folder / "failures.log") == "5 " + line);
  }
}
#endif
