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

/// "SIGTERM" for SIGTERM; "" for a signal that stop_signals does not watch.
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

// A signal handler reaches nothing but process-wide state; lock-free atomics are all that it may touch.
struct stop_signal_state {
  std::atomic<int> requested = 0;
  std::atomic<bool> answered = false;        // the request is
  std::atomic<std::int64_t> quit_after = 0;  // nanoseconds of the monotonic clock; 0: no SIGINT or SIGTERM yet
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
      ::raise(number);  // delivered when this handler returns: the caller sees what ended the process
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

/// While it lives, SIGINT, SIGTERM, SIGHUP and SIGUSR1 only set a flag, which the step loop reads and acts on: save, exit
/// 75. A second one (not SIGUSR1), `grace_seconds` or more after the first, ends the process at once, by that signal;
/// launchers pass one request on twice, so what comes sooner is the same request. Handlers that were there before are
/// called too, and put back at the end; a signal that was ignored stays ignored (`nohup`, background jobs). One at a
/// time per process.
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

  /// After a request the process is about to end: what would do so by default waits as after `answered`.
  ~stop_signals() {
    if (requested() != 0) wait_before_quitting();
    for (std::size_t index = 0; index < count; ++index) {
      struct sigaction const& earlier = detail::stop_signal.earlier[index];
      bool const by_default = !(earlier.sa_flags & SA_SIGINFO) && earlier.sa_handler == SIG_DFL;
      if (!watched_[index] || (requested() != 0 && by_default)) continue;
      ::sigaction(detail::stop_signal_numbers[index], &earlier, nullptr);
    }
  }

  /// The first signal that nobody has answered, be it to an earlier watch; 0 where there is none. Any thread may ask.
  int requested() const { return detail::stop_signal.requested.load(); }

  /// The request is answered: the exit code is told. What comes within five seconds more is the same request; after them
  /// a signal ends the process, which then hangs.
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

/// Lets a write to a closed pipe or beyond the file size limit fail, as EPIPE or EFBIG, instead of ending the process by
/// SIGPIPE or SIGXFSZ: a run goes on without its console and counts what its files lose. For the rest of the process,
/// whose last lines are written behind any scope; programs that it starts have the default again. A handler that was
/// there before, or SIG_IGN, stays.
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
