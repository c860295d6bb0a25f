#pragma once

#include <redco/diag/crash_report.hpp>

#include <redco/diag/error.hpp>
#include <redco/diag/run_position.hpp>
#include <redco/config.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <new>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace redco::diag::detail {

struct fatal_signal {
  int number;
  std::string_view name;
};
inline constexpr fatal_signal fatal_signals[] = {{SIGSEGV, "SIGSEGV (an address that is not its own)"},
                                                 {SIGBUS, "SIGBUS (memory that is not there)"},
                                                 {SIGFPE, "SIGFPE (an integer divided by 0)"},
                                                 {SIGILL, "SIGILL (an instruction that the CPU does not know)"},
                                                 {SIGABRT, "SIGABRT (abort)"}};

// Signal handlers can access only process-wide state.
struct crash_report_state {
  std::string log, failures;
  exception_words words = what_of;
  std::atomic<bool> reported = false;
  struct sigaction earlier[std::size(fatal_signals)] = {};
  std::terminate_handler earlier_terminate = nullptr;
  std::new_handler earlier_new = nullptr;
  /// Address space that the first failing `new` frees, so that the failure can be reported
  std::atomic<void*> reserve = nullptr;
};
inline crash_report_state last_state;
inline constexpr std::size_t reserve_bytes = std::size_t{16} << 20;

inline void free_reserve() {
  if (void* const kept = last_state.reserve.exchange(nullptr)) ::munmap(kept, reserve_bytes);
}

/// Called if `new` finds no memory. Frees the reserve, but lets `new` fail, because the reserve is
/// for the messages about the failure.
inline void on_exhausted_memory() {
  free_reserve();
  if (last_state.earlier_new != nullptr) return last_state.earlier_new();
  throw std::bad_alloc();
}

/// A line of text with a fixed buffer, written by signal handlers. Allocates no memory and calls
/// only async-signal-safe functions.
class plain_line {
 public:
  plain_line& operator<<(std::string_view text) {
    for (char const letter : text)
      if (size_ + 1 < text_.size()) text_[size_++] = letter == '\n' ? ' ' : letter;
    return *this;
  }
  plain_line& operator<<(std::int64_t number) {
    char digits[20];
    std::size_t at = sizeof digits;
    do digits[--at] = static_cast<char>('0' + number % 10);
    while ((number /= 10) > 0);
    return *this << std::string_view(digits + at, sizeof digits - at);
  }

  void write_to(int file) {
    text_[size_] = '\n';
    [[maybe_unused]] auto const written = ::write(file, text_.data(), size_ + 1);
  }
  void append_to(std::string const& path, int flags) {
    if (path.empty()) return;
    int const file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | flags, 0666);
    if (file < 0) return;
    write_to(file);
    ::close(file);
  }

 private:
  std::array<char, 1024> text_;
  std::size_t size_ = 0;
};

/// Writes the `cause` of an abnormal end of the process, with rank, step and user function to
/// standard error, the log and failure_history. Only the first call has an effect.
inline void report_end(std::string_view cause) {
  if (last_state.reported.exchange(true)) return;
  run_position here = run_position::here();
  if (here.rank < 0) here.step = latest_step.load(std::memory_order_relaxed);
  plain_line line, failure;
  auto const describe = [&](plain_line& to) {
    if (here.rank >= 0) to << "rank " << here.rank << ": ";
    if (here.rank < 0) to << "a thread of no rank: ";
    if (here.step >= 0) to << "step " << here.step + 1 << (here.function ? ", " : ": ");
    if (here.function) to << "in " << here.function << ": ";
    to << cause;
  };
  line << "error: ";
  describe(line);
  line.write_to(STDERR_FILENO);
  line.append_to(last_state.log, 0);
  if (here.step < 0) return;
  failure << here.step + 1 << " ";
  describe(failure);
  failure.append_to(last_state.failures, O_CREAT);
}

inline void on_fatal_signal(int number, siginfo_t* information, void*) {
  int const error_number = errno;
  for (std::size_t index = 0; index < std::size(fatal_signals); ++index) {
    if (fatal_signals[index].number != number) continue;
    ::sigaction(number, &last_state.earlier[index], nullptr);
    report_end(fatal_signals[index].name);
  }
  // A signal with si_code <= 0 was sent and must be raised again. A fault recurs by itself when the
  // handler returns.
  if (information->si_code <= 0) ::raise(number);
  errno = error_number;
}

[[noreturn]] inline void on_terminate() {
  exit_code code = exit_code::internal;
  try {
    if (std::current_exception()) throw;
    report_end("std::terminate was called");
  } catch (error const& e) {
    code = e.code();
    report_end(e.what());
  } catch (std::exception const& e) {
    report_end(last_state.words(e));
  } catch (...) {
    report_end("an exception that is not a std::exception");
  }
  ::_exit(static_cast<int>(code));
}

inline void on_exit() {
  if (run_position::here().rank < 0) return;
  report_end("exit() was called; return or throw instead");
  ::_exit(static_cast<int>(exit_code::internal));
}

// exit() destroys thread_local objects of its thread before it runs other exit handlers. Those
// handlers may destroy data that other ranks still use, so the report must come first.
struct exit_watch {
  void begin() const {}
  ~exit_watch() { on_exit(); }
};

}  // namespace redco::diag::detail

namespace redco::diag {

REDCO_INLINE crash_report::crash_report(exception_words words) {
  detail::crash_report_state& state = detail::last_state;
  state.reported = false;
  state.words = words;
  [[maybe_unused]] static int const registered = std::atexit(detail::on_exit);
  state.earlier_terminate = std::set_terminate(detail::on_terminate);
  void* const reserve =
      ::mmap(nullptr, detail::reserve_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserve != MAP_FAILED) state.reserve = reserve;
  state.earlier_new = std::set_new_handler(detail::on_exhausted_memory);
  for (std::size_t index = 0; index < std::size(detail::fatal_signals); ++index) {
    struct sigaction ours {};
    ours.sa_sigaction = detail::on_fatal_signal;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&ours.sa_mask);
    ::sigaction(detail::fatal_signals[index].number, &ours, &state.earlier[index]);
  }
}

REDCO_INLINE crash_report::~crash_report() {
  detail::crash_report_state& state = detail::last_state;
  for (std::size_t index = 0; index < std::size(detail::fatal_signals); ++index)
    ::sigaction(detail::fatal_signals[index].number, &state.earlier[index], nullptr);
  std::set_terminate(state.earlier_terminate);
  std::set_new_handler(state.earlier_new);
  detail::free_reserve();
  state.log.clear();
  state.failures.clear();
}

REDCO_INLINE void crash_report::keep(std::filesystem::path const& log, std::filesystem::path const& failures) {
  detail::last_state.log = log.string();
  detail::last_state.failures = failures.string();
}

REDCO_INLINE crash_report::rank_thread::rank_thread(int rank) : stack_(nullptr) {
  thread_local detail::exit_watch const watch;
  watch.begin();
  run_position::here() = {rank, -1, nullptr};
  constexpr std::size_t bytes = std::size_t{1} << 16;
  stack_ = ::operator new(bytes);
  stack_t stack{};
  stack.ss_sp = stack_;
  stack.ss_size = bytes;
  ::sigaltstack(&stack, nullptr);
}

REDCO_INLINE crash_report::rank_thread::~rank_thread() {
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
  ::operator delete(stack_);
  run_position::here() = {};
}

}  // namespace redco::diag
