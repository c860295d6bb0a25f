#pragma once

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>

namespace redco::comm::detail {

/// A handler that records SIGTERM. mpirun sends SIGTERM to all processes when one process is gone.
/// Before this process ends, it can then print the collective in which it waits.
class launcher_signal {
 public:
  /// Installs a handler that records SIGTERM and then calls the handler installed before it. If the
  /// program ignores SIGTERM, installs nothing.
  static void watch() {
    struct sigaction now {};
    ::sigaction(SIGTERM, nullptr, &now);
    if (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_IGN) return;
    state().earlier = now;
    struct sigaction ours {};
    ours.sa_sigaction = note;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    ::sigemptyset(&ours.sa_mask);
    ::sigaction(SIGTERM, &ours, nullptr);
  }

  /// Returns true if a SIGTERM has arrived at least `ago` before now.
  static bool came_before(std::chrono::milliseconds ago) {
    std::int64_t const since = state().since.load();
    return since != 0 && now() - since >= std::chrono::nanoseconds(ago).count();
  }

  /// Ends the process by SIGTERM, unless the program handles SIGTERM itself. It does if it has
  /// installed a handler before watch(), or a later handler that calls note(). The handler of
  /// `stop_signals` is such a handler: the run saves and ends with exit code 75.
  static void pass_on() {
    if (!is_handled()) end();
  }

 private:
  struct noted {
    /// Time of the first SIGTERM in nanoseconds of the monotonic clock; 0 if none has come.
    std::atomic<std::int64_t> since = 0;
    std::atomic<bool> passed_by_later = false;  ///< a handler installed after watch() called note()
    struct sigaction earlier {};
  };
  static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);
  /// Nanoseconds in which a repeated SIGTERM does not end a program that handles the first.
  static constexpr std::int64_t patience = 5'000'000'000;

  static noted& state() {
    static noted one;
    return one;
  }
  static std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  static bool has_earlier() { return (state().earlier.sa_flags & SA_SIGINFO) || state().earlier.sa_handler != SIG_DFL; }
  static bool is_handled() { return has_earlier() || state().passed_by_later; }

  static void end() {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    ::sigaction(SIGTERM, &standard, nullptr);
    ::raise(SIGTERM);
  }

  static void note(int number, siginfo_t* information, void* context) {
    int const error_number = errno;
    std::int64_t unset = 0;
    bool const first = state().since.compare_exchange_strong(unset, now());
    struct sigaction current {};
    ::sigaction(SIGTERM, nullptr, &current);
    bool const direct = (current.sa_flags & SA_SIGINFO) && current.sa_sigaction == note;
    if (!direct) state().passed_by_later = true;
    struct sigaction const& earlier = state().earlier;
    if (!has_earlier()) {
      if (direct && !first && (!is_handled() || now() - state().since > patience)) end();
    } else if (earlier.sa_flags & SA_SIGINFO) {
      earlier.sa_sigaction(number, information, context);
    } else {
      earlier.sa_handler(number);
    }
    errno = error_number;
  }
};

}  // namespace redco::comm::detail
