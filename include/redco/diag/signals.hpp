#pragma once

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include <time.h>

namespace redco::diag {

/// Returns the name of a signal, such as "SIGTERM", or "" for a signal that stop_signals does not
/// watch.
constexpr std::string_view signal_name(int signal) {
  return signal == SIGINT    ? "SIGINT"
         : signal == SIGTERM ? "SIGTERM"
         : signal == SIGHUP  ? "SIGHUP"
         : signal == SIGUSR1 ? "SIGUSR1"
                             : "";
}

namespace detail {

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

}  // namespace detail

/// Turns SIGINT, SIGTERM, SIGHUP and SIGUSR1 into a flag during its lifetime. The step loop reads
/// the flag, saves and exits with code 75. A second signal (not SIGUSR1), `grace_seconds` or more
/// after the first, ends the process. Earlier repetitions are ignored, because launchers forward
/// one request twice. Calls previous handlers too, and restores them at the end. Ignored signals
/// stay ignored (`nohup`). At most one object may exist per process.
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

  /// Restores the previous handlers. After a request, signals with the default action stay watched,
  /// and a repeated signal within five seconds does not end the process.
  ~stop_signals() {
    if (requested() != 0) wait_before_quitting();
    for (std::size_t index = 0; index < count; ++index) {
      struct sigaction const& earlier = detail::stop_signal.earlier[index];
      bool const by_default = !(earlier.sa_flags & SA_SIGINFO) && earlier.sa_handler == SIG_DFL;
      if (!watched_[index] || (requested() != 0 && by_default)) continue;
      ::sigaction(detail::stop_signal_numbers[index], &earlier, nullptr);
    }
  }

  /// Returns the first unanswered signal, even if an earlier stop_signals object received it, or 0.
  /// Thread-safe.
  int requested() const { return detail::stop_signal.requested.load(); }

  /// Marks the request as answered, after the exit code was reported. Repeated signals within five
  /// seconds are ignored; a later signal ends the process, which is then assumed to hang.
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

/// Makes writes to a closed pipe or past the file size limit fail (EPIPE, EFBIG) instead of ending
/// the process by SIGPIPE or SIGXFSZ. A run then continues without its console and counts lost file
/// writes. Lasts until the process ends. Child programs get the default action again. Previously
/// installed handlers and SIG_IGN stay.
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
