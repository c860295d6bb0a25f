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

  /// Ends the process by SIGTERM, unless the program has its own handler for SIGTERM.
  static void pass_on() {
    if (is_handled()) return;
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    ::sigaction(SIGTERM, &standard, nullptr);
    ::raise(SIGTERM);
  }

 private:
  struct noted {
    /// Time of the first SIGTERM in nanoseconds of the monotonic clock; 0 if none has come.
    std::atomic<std::int64_t> since = 0;
    struct sigaction earlier {};
  };
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);

  static noted& state() {
    static noted one;
    return one;
  }
  static std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  static bool is_handled() { return (state().earlier.sa_flags & SA_SIGINFO) || state().earlier.sa_handler != SIG_DFL; }

  static void note(int number, siginfo_t* information, void* context) {
    int const error_number = errno;
    std::int64_t unset = 0;
    bool const first = state().since.compare_exchange_strong(unset, now());
    struct sigaction const& earlier = state().earlier;
    if (!is_handled()) {
      if (!first) pass_on();
    } else if (earlier.sa_flags & SA_SIGINFO) {
      earlier.sa_sigaction(number, information, context);
    } else {
      earlier.sa_handler(number);
    }
    errno = error_number;
  }
};

}  // namespace redco::comm::detail
