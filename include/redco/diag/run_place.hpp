#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace redco::diag {

/// Where in a run a thread is: what can be told when the process ends in the middle of it.
struct run_place {
  int rank = -1;                   ///< -1: no rank's thread
  std::int64_t step = -1;          ///< counted from 0; -1: before the first
  char const* function = nullptr;  ///< of the user, where one is called; a string literal

  /// That of the calling thread.
  static run_place& here();

  /// The rank's thread begins update number `number`, counted from 0.
  static void begin_step(std::int64_t number);

  /// "step 3, in loss: ", as far as it is known; the step counted from 1, as users see it.
  std::string text() const {
    std::string words = step < 0 ? "" : "step " + std::to_string(step + 1);
    if (function != nullptr) words += (words.empty() ? "in " : ", in ") + std::string(function);
    return words.empty() ? words : words + ": ";
  }
};

namespace detail {

inline constinit thread_local run_place place_of_this_thread{};

// For threads of no rank, such as those of libtorch and OpenMP, which work for one: the step that began last.
inline std::atomic<std::int64_t> latest_step = -1;

}  // namespace detail

inline run_place& run_place::here() { return detail::place_of_this_thread; }

inline void run_place::begin_step(std::int64_t number) {
  here().step = number;
  detail::latest_step.store(number, std::memory_order_relaxed);
}

/// This thread calls a user's function while it lives.
class in_user_function {
 public:
  in_user_function(char const* function, std::int64_t step) : before_(run_place::here()) {
    run_place::here().function = function;
    run_place::here().step = step;
  }
  in_user_function(in_user_function const&) = delete;
  in_user_function& operator=(in_user_function const&) = delete;
  ~in_user_function() { run_place::here() = before_; }

 private:
  run_place before_;
};

}  // namespace redco::diag
