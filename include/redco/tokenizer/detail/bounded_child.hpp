#pragma once

#include <redco/tokenizer/chat_template.hpp>
#include <redco/diag/error.hpp>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::tokenizer::detail {

/// Results of jobs, and why the next job failed, if one did.
struct child_results {
  std::vector<std::string> results;
  std::optional<std::string> failure = {};
  bool exceeded = false;  ///< the failure is a limit or a crash, and no exception of the job
};

/// Mutex that a thread holds while it forks, and while it initializes values that a child reads.
inline std::mutex& fork_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// A child process that computes texts within limits: code that crashes, hangs or fills the memory
/// ends the child, and not this process. Jobs run in order, and share the child.
class bounded_child {
 public:
  using job = std::function<std::string(std::size_t)>;

  /// Returns the results of `compute(0)`, ..., `compute(jobs - 1)`, which run in a child process.
  /// The first job that throws, or that exceeds a limit, is the last one. Throws `error` with exit
  /// code 74 if the system starts no process.
  static child_results run(std::size_t jobs, job const& compute, chat_limits const& limits) {
    if (jobs == 0) return {};
    bounded_child child(jobs, compute, limits);
    return child.collected(jobs, limits);
  }

  bounded_child(bounded_child const&) = delete;
  bounded_child& operator=(bounded_child const&) = delete;

 private:
  enum kind : char { result = 'r', refusal = 'e', memory = 'm', size = 's' };

  bounded_child(std::size_t jobs, job const& compute, chat_limits const& limits) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("a pipe");
    rlim_t const space = address_space() + limits.memory;
    pid_t const parent = getpid();
    std::unique_lock lock(fork_mutex());
    pid_ = fork();
    if (pid_ == 0) {
      lock.release();
      close(ends[0]);
      if (prepare(parent, space)) work(jobs, compute, limits, ends[1]);
      _exit(0);
    }
    int const why = errno;
    lock.unlock();
    close(ends[1]);
    read_end_ = ends[0];
    if (pid_ < 0) {
      close(read_end_);
      errno = why;
      fail("a process");
    }
  }

  ~bounded_child() {
    if (pid_ > 0) kill(pid_, SIGKILL), reap();
    close(read_end_);
  }

  [[noreturn]] static void fail(char const* what) {
    throw error(exit_code::io, std::string("a chat template is rendered in a process of its own, and the system gives "
                                           "no ") +
                                   (what + 2) + " (" + std::strerror(errno) + "): raise the limits of this job");
  }

  /// Returns the number of bytes of this process's address space.
  static rlim_t address_space() {
    std::ifstream statistics("/proc/self/statm");
    rlim_t pages = 0;
    return statistics >> pages ? pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) : rlim_t{1} << 46;
  }

  /// Sets `limit` of a resource, at most to the limit of this process.
  static void limit(decltype(RLIMIT_AS) resource, rlim_t most) {
    rlimit now{};
    getrlimit(resource, &now);
    now.rlim_cur = now.rlim_max == RLIM_INFINITY ? most : std::min(most, now.rlim_max);
    setrlimit(resource, &now);
  }

  /// Prepares the child: signals end it as if the program handled none. It ends with its parent.
  /// Returns false if the parent has ended.
  static bool prepare(pid_t parent, rlim_t space) {
    for (int const one : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU, SIGTERM, SIGINT, SIGHUP, SIGPIPE})
      std::signal(one, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (int const silent = open("/dev/null", O_WRONLY | O_CLOEXEC); silent >= 0) dup2(silent, STDERR_FILENO);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_AS, space);
    return getppid() == parent;
  }

  /// Computes the jobs in the child, until one fails.
  static void work(std::size_t jobs, job const& compute, chat_limits const& limits, int out) {
    for (std::size_t i = 0; i < jobs; ++i) {
      rusage used{};
      getrusage(RUSAGE_SELF, &used);
      limit(RLIMIT_CPU, static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + limits.cpu_seconds + 1);
      try {
        std::string const text = compute(i);
        bool const fits = text.size() <= limits.bytes;
        if (!send(out, fits ? result : size, fits ? text : std::string()) || !fits) return;
      } catch (std::bad_alloc const&) {
        send(out, memory, {});
        return;
      } catch (std::exception const& e) {
        send(out, refusal, e.what());
        return;
      }
    }
  }

  /// Writes a frame: its kind, the size of its text, the text. Returns false if nobody reads.
  static bool send(int out, kind which, std::string_view text) {
    std::array<char, 1 + sizeof(std::uint64_t)> head{which};
    std::uint64_t const bytes = text.size();
    std::memcpy(head.data() + 1, &bytes, sizeof bytes);
    for (std::string_view rest : {std::string_view(head.data(), head.size()), text})
      while (!rest.empty()) {
        ssize_t const sent = write(out, rest.data(), rest.size());
        if (sent < 0 && errno != EINTR) return false;
        rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
      }
    return true;
  }

  /// Reads the frames of the child until the last one, its end, or the deadline of a job.
  child_results collected(std::size_t jobs, chat_limits const& limits) {
    using clock = std::chrono::steady_clock;
    child_results all;
    std::string bytes;
    std::array<char, 1 << 16> some{};
    auto deadline = clock::now() + std::chrono::seconds(limits.seconds);
    while (all.results.size() < jobs && !all.failure) {
      auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock::now()).count();
      pollfd ready{read_end_, POLLIN, 0};
      int const events = poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
      if (events == 0 && left <= 0) {
        exceed(all, "takes more than " + std::to_string(limits.seconds) + " seconds");
      } else if (events > 0) {
        ssize_t const got = read(read_end_, some.data(), some.size());
        if (got == 0) exceed(all, how_it_ended(limits));
        if (got > 0) bytes.append(some.data(), static_cast<std::size_t>(got));
        if (take_frames(bytes, all, limits)) deadline = clock::now() + std::chrono::seconds(limits.seconds);
      }
    }
    return all;
  }

  /// Moves whole frames from `bytes` to `all`. Returns true if there was one.
  static bool take_frames(std::string& bytes, child_results& all, chat_limits const& limits) {
    constexpr std::size_t head = 1 + sizeof(std::uint64_t);
    std::size_t at = 0;
    while (bytes.size() - at >= head && !all.failure) {
      std::uint64_t length = 0;
      std::memcpy(&length, bytes.data() + at + 1, sizeof length);
      if (bytes.size() - at - head < length) break;
      std::string text = bytes.substr(at + head, length);
      if (bytes[at] == result) all.results.push_back(std::move(text));
      if (bytes[at] == refusal) all.failure = std::move(text);
      if (bytes[at] == memory) exceed(all, out_of_memory(limits));
      if (bytes[at] == size) exceed(all, "writes more than " + std::to_string(limits.bytes) + " bytes");
      at += head + length;
    }
    bytes.erase(0, at);
    return at > 0;
  }

  static void exceed(child_results& all, std::string why) {
    all.failure = std::move(why);
    all.exceeded = true;
  }

  static std::string out_of_memory(chat_limits const& limits) {
    return "needs more than " + std::to_string(limits.memory >> 20U) + " MiB of memory";
  }

  /// Returns why the child ended before its last job.
  std::string how_it_ended(chat_limits const& limits) {
    int const status = reap();
    int const signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (signal == SIGXCPU || signal == SIGKILL)
      return "takes more than " + std::to_string(limits.cpu_seconds) + " seconds of computation";
    if (signal == SIGSEGV || signal == SIGBUS) return "overflows the stack, as a macro does that calls itself";
    if (signal == SIGFPE) return "divides by zero";
    return out_of_memory(limits) + ", or fails";
  }

  /// Waits for the end of the child, and returns its status; 0 if another thread has waited for it.
  int reap() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    pid_ = -1;
    return status;
  }

  pid_t pid_ = -1;
  int read_end_ = -1;
};

}  // namespace redco::tokenizer::detail
