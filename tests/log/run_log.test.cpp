#include "catch.hpp"
#include "temporary_folder.hpp"

#include <redco/log/run_log.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include <sys/stat.h>

namespace {

struct logged_console {
  std::ostringstream out;
  redco::log::console console{[this] {
    redco::log::console_options options;
    options.out = &out;
    return options;
  }()};
};

std::chrono::system_clock::time_point fixed_time() {
  return std::chrono::system_clock::time_point(std::chrono::milliseconds(1700000000042));
}

}  // namespace

TEST_CASE("a log line is on the console and, with its time, at the end of the file") {
  temporary_folder folder;
  auto const file = folder.path / "log.txt";
  std::ofstream(file) << "earlier run\n";
  logged_console screen;
  redco::log::run_log log(screen.console, file, fixed_time);
  log.line("one");
  CHECK(content_of(file) == "earlier run\n2023-11-14T22:13:20.042Z one\n");
  log.line("two\n\nthree");
  log.quiet_line("only here");
  log.warning("clock is slow");
  CHECK(content_of(file) ==
        "earlier run\n"
        "2023-11-14T22:13:20.042Z one\n"
        "2023-11-14T22:13:20.042Z two\n"
        "2023-11-14T22:13:20.042Z \n"
        "2023-11-14T22:13:20.042Z three\n"
        "2023-11-14T22:13:20.042Z only here\n"
        "2023-11-14T22:13:20.042Z warning: clock is slow\n");
  CHECK(screen.out.str() == "one\ntwo\n\nthree\nwarning: clock is slow\n");
  CHECK(log.warnings() == 1);
  CHECK(log.lost() == 0);
}

TEST_CASE("a banner names title and step") {
  logged_console screen;
  redco::log::run_log log(screen.console);
  log.banner("Evaluation results", 1200, "loss 2.05");
  log.banner("Sample");
  CHECK(screen.out.str() ==
        "----------------------------------\n"
        "### Evaluation results (step 1200)\n"
        "----------------------------------\n"
        "loss 2.05\n"
        "--------------------\n"
        "### Sample\n"
        "--------------------\n");
}

TEST_CASE("a log without a regular file loses lines, counts them and warns once") {
  logged_console screen;
  redco::log::run_log log(screen.console, "/dev/full", fixed_time);
  log.line("one");
  log.line("two\nthree");
  log.quiet_line("four");
  CHECK(log.lost() == 4);
  CHECK(log.warnings() == 0);
  std::string const seen = screen.out.str();
  CHECK(seen ==
        "one\n"
        "warning: cannot write /dev/full: it is not a regular file. The run continues, tries again with every line and "
        "counts lost lines: free space or fix permissions.\n"
        "two\nthree\n");
}

TEST_CASE("a FIFO in place of a log file does not block the run") {
  temporary_folder folder;
  auto const path = folder.path / "log.txt";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  logged_console screen;
  redco::log::run_log log(screen.console, path, fixed_time);
  log.line("one");
  CHECK(log.lost() == 1);
  CHECK(screen.out.str().find("not a regular file") != std::string::npos);
}

TEST_CASE("a log whose folder appears late is written from then on") {
  temporary_folder folder;
  logged_console screen;
  redco::log::run_log log(screen.console, folder.path / "run" / "log.txt", fixed_time);
  log.line("one");
  CHECK(log.lost() == 1);
  std::filesystem::create_directory(folder.path / "run");
  log.line("two");
  CHECK(log.lost() == 1);
  CHECK(content_of(folder.path / "run" / "log.txt") == "2023-11-14T22:13:20.042Z two\n");
}

TEST_CASE("two threads may log at once and no line is lost or torn") {
  temporary_folder folder;
  logged_console screen;
  redco::log::run_log log(screen.console, folder.path / "log.txt", fixed_time);
  auto work = [&](char letter) {
    for (int line = 0; line < 100; ++line) log.warning(std::string(50, letter));
  };
  std::thread other(work, 'b');
  work('a');
  other.join();
  CHECK(log.warnings() == 200);
  std::istringstream lines(content_of(folder.path / "log.txt"));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    std::string const text = line.substr(line.find("warning: ") + 9);
    if (text != std::string(50, 'a') && text != std::string(50, 'b')) FAIL("torn: " << line);
  }
  CHECK(count == 200);
}
