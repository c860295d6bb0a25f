#pragma once

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include <time.h>

namespace redco::diag::detail {

inline constexpr int stop_signal_numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};

inline std::int64_t monotonic_nanoseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Signal handlers can access only process-wide state, and only by lock-free atomics.
struct stop_signal_state {
  std::atomic<int> requested = 0;
  std::atomic<bool> answered = false;  // true after the request was answered
  // Nanoseconds of the monotonic clock; 0 before the first SIGINT or SIGTERM
  std::atomic<std::int64_t> quit_after = 0;
  std::atomic<std::int64_t> grace = 0;
  struct sigaction earlier[std::size(stop_signal_numbers)] = {};
};
inline stop_signal_state stop_signal;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

inline void on_stop_signal(int number, siginfo_t* information, void* context) {
  int const error_number = errno;
  std::int64_t const now = monotonic_nanoseconds();
  int nothing = 0;
  if (stop_signal.requested.compare_exchange_strong(nothing, number)) stop_signal.answered = false;
  if (number != SIGUSR1) {
    std::int64_t unset = 0;
    bool const first = stop_signal.quit_after.compare_exchange_strong(unset, now + stop_signal.grace.load());
    if (!first && now >= stop_signal.quit_after.load()) {
      struct sigaction standard {};
      standard.sa_handler = SIG_DFL;
      ::sigaction(number, &standard, nullptr);
      // Delivered when this handler returns, so that the parent process sees the signal
      ::raise(number);
      errno = error_number;
      return;
    }
  }
  for (std::size_t index = 0; index < std::size(stop_signal_numbers); ++index) {
    if (stop_signal_numbers[index] != number) continue;
    struct sigaction const& earlier = stop_signal.earlier[index];
    if (earlier.sa_flags & SA_SIGINFO) {
      if (earlier.sa_sigaction != nullptr) earlier.sa_sigaction(number, information, context);
    } else if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN) {
      earlier.sa_handler(number);
    }
  }
  errno = error_number;
}

}  // namespace redco::diag::detail

namespace redco::diag {

/// Returns the name of a signal, such as "SIGTERM", or "" for a signal that `stop_signals` does not
/// handle.
constexpr std::string_view signal_name(int signal) {
  return signal == SIGINT    ? "SIGINT"
         : signal == SIGTERM ? "SIGTERM"
         : signal == SIGHUP  ? "SIGHUP"
         : signal == SIGUSR1 ? "SIGUSR1"
                             : "";
}

/// A guard that turns SIGINT, SIGTERM, SIGHUP and SIGUSR1 into a stop request during its lifetime.
/// The step loop reads the request, saves and exits with code 75. A second signal (not SIGUSR1)
/// ends the process if it comes at least `grace_seconds` after the first. Earlier repetitions are
/// ignored, because launchers forward one request twice. Previous handlers are called too, and
/// restored by the destructor. Signals that the process ignores stay ignored (`nohup`). One object
/// per process.
class stop_signals {
 public:
  explicit stop_signals(double grace_seconds = 0.5) {
    if (detail::stop_signal.answered.exchange(false)) {
      detail::stop_signal.requested = 0;
      detail::stop_signal.quit_after = 0;
    }
    detail::stop_signal.grace = static_cast<std::int64_t>(grace_seconds * 1e9);
    for (std::size_t index = 0; index < count; ++index) {
      struct sigaction& earlier = detail::stop_signal.earlier[index];
      struct sigaction now {};
      ::sigaction(detail::stop_signal_numbers[index], nullptr, &now);
      bool const ours_stayed = (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == detail::on_stop_signal;
      earlier = ours_stayed ? standard() : now;
      watched_[index] = (earlier.sa_flags & SA_SIGINFO) || earlier.sa_handler != SIG_IGN;
      if (!watched_[index]) continue;
      struct sigaction ours {};
      ours.sa_sigaction = detail::on_stop_signal;
      ours.sa_flags = SA_SIGINFO | SA_RESTART;
      ::sigemptyset(&ours.sa_mask);
      ::sigaction(detail::stop_signal_numbers[index], &ours, nullptr);
    }
  }
  stop_signals(stop_signals const&) = delete;
  stop_signals& operator=(stop_signals const&) = delete;

  /// Restores the previous signal handlers. If a stop was requested, signals whose previous action
  /// was the default stay handled, and a repetition within five seconds does not end the process.
  ~stop_signals() {
    if (requested() != 0) wait_before_quitting();
    for (std::size_t index = 0; index < count; ++index) {
      struct sigaction const& earlier = detail::stop_signal.earlier[index];
      bool const by_default = !(earlier.sa_flags & SA_SIGINFO) && earlier.sa_handler == SIG_DFL;
      if (!watched_[index] || (requested() != 0 && by_default)) continue;
      ::sigaction(detail::stop_signal_numbers[index], &earlier, nullptr);
    }
  }

  /// Returns the number of the signal that requested a stop, or 0 if no request is unanswered. The
  /// signal may have arrived during the lifetime of an earlier stop_signals object. Thread-safe.
  int requested() const { return detail::stop_signal.requested.load(); }

  /// Marks the stop request as answered. Call after the exit code was reported. Repeated signals
  /// within five seconds are ignored. A later signal ends the process, because the process is then
  /// assumed to hang.
  void answered() const {
    detail::stop_signal.answered = true;
    wait_before_quitting();
  }

 private:
  static constexpr std::size_t count = std::size(detail::stop_signal_numbers);

  static void wait_before_quitting() {
    detail::stop_signal.quit_after = detail::monotonic_nanoseconds() + 5'000'000'000;
  }
  static struct sigaction standard() {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    return action;
  }

  bool watched_[count] = {};
};

/// Makes writes to a closed pipe or beyond the file size limit fail with EPIPE or EFBIG, instead of
/// ending the process by SIGPIPE or SIGXFSZ. A training run thus continues without its console and
/// counts lost file writes. Applies until the process ends, but not to child programs. Previously
/// installed handlers and SIG_IGN are kept.
inline void let_writes_fail() {
  for (int const number : {SIGPIPE, SIGXFSZ}) {
    struct sigaction now {};
    ::sigaction(number, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL) continue;
    struct sigaction nothing {};
    nothing.sa_handler = [](int) {};
    nothing.sa_flags = SA_RESTART;
    ::sigemptyset(&nothing.sa_mask);
    ::sigaction(number, &nothing, nullptr);
  }
}

}  // namespace redco::diag
