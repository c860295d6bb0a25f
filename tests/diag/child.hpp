#pragma once

// Runs a case of this test program in a child process, because a process cannot observe its own
// end.

#include "temporary_folder.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace run_test {

/// The end of a child process.
struct ended_child {
  int code = -1;    ///< exit code; -1: a signal or the deadline ended it
  int signal = 0;   ///< signal that ended it
  std::string out;  ///< standard output and error
};

/// Runs the hidden case `name` with the words REDCO_CHILD and REDCO_CHILD_WORKDIR in its
/// environment. Its output goes to `to`, or to a file of the workdir. Kills the child after a
/// minute.
inline ended_child run_child(char const* name, char const* mode, std::filesystem::path const& workdir, int to = -1) {
  std::string const out = (workdir / "out").string();
  ::setenv("REDCO_CHILD", mode, 1);
  ::setenv("REDCO_CHILD_WORKDIR", workdir.c_str(), 1);
  pid_t const child = ::fork();
  if (child == 0) {
    int const file = to >= 0 ? to : ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    ::execl("/proc/self/exe", "child", name, static_cast<char*>(nullptr));
    ::_exit(99);
  }
  auto const last = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > last) ::kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ended_child result;
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.out = content_of(out);
  return result;
}

/// Restores the default action of all signals that the test library handles. Called in the child.
inline void forget_handlers() {
  for (int const number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGSEGV, SIGFPE, SIGILL, SIGABRT, SIGPIPE, SIGXFSZ})
    ::signal(number, SIG_DFL);
}

}  // namespace run_test
