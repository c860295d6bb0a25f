#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace redco::diag {

/// A position of a thread in a training run: rank, step and user function. Named in error messages
/// and in the report of an abnormal end of the process.
struct run_position {
  int rank = -1;           ///< Rank that the thread executes; -1 if the thread belongs to no rank
  std::int64_t step = -1;  ///< Step that the thread executes, from 0; -1 before the first step
  /// Name of the user function that the thread is calling, as a string literal; null if the thread
  /// calls none.
  char const* function = nullptr;

  /// Returns the position (rank, step, user function) of the calling thread.
  static run_position& here();

  /// Records that the calling thread, which belongs to a rank, begins step `number`, counted from
  /// 0.
  static void begin_step(std::int64_t number);

  /// Returns the step and the user function as the beginning of a message, such as "step 3, in
  /// loss: ". The step is counted from 1, as in the program's output. Returns an empty text if both
  /// are unknown.
  std::string text() const {
    std::string words = step < 0 ? "" : "step " + std::to_string(step + 1);
    if (function != nullptr) words += (words.empty() ? "in " : ", in ") + std::string(function);
    return words.empty() ? words : words + ": ";
  }
};

}  // namespace redco::diag

namespace redco::diag::detail {

inline constinit thread_local run_position position_of_this_thread{};

// Latest step of any rank. Used for threads without a rank, such as threads of libtorch and OpenMP.
inline std::atomic<std::int64_t> latest_step = -1;

}  // namespace redco::diag::detail

namespace redco::diag {

inline run_position& run_position::here() { return detail::position_of_this_thread; }

inline void run_position::begin_step(std::int64_t number) {
  here().step = number;
  detail::latest_step.store(number, std::memory_order_relaxed);
}

/// A guard that records, during its lifetime, that the calling thread runs a user function, for
/// messages about errors.
class in_user_function {
 public:
  in_user_function(char const* function, std::int64_t step) : before_(run_position::here()) {
    run_position::here().function = function;
    run_position::here().step = step;
  }
  in_user_function(in_user_function const&) = delete;
  in_user_function& operator=(in_user_function const&) = delete;
  ~in_user_function() { run_position::here() = before_; }

 private:
  run_position before_;
};

}  // namespace redco::diag
