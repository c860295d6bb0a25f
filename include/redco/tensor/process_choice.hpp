#pragma once

#include <redco/diag/error.hpp>

#include <atomic>
#include <string>

namespace redco::tensors {

/// Returns the choice that the value `wanted` of an environment variable names, by the names in
/// `texts`, or `otherwise` if `wanted` is null or empty. Throws `error` with exit code 64 and the
/// legal names `legal` if it names none.
template <class Choice, class Texts>
Choice named_choice(char const* variable, char const* wanted, Choice otherwise, Texts const& texts, char const* legal) {
  if (wanted == nullptr || *wanted == 0) return otherwise;
  if (auto const named = texts.value_of(wanted)) return *named;
  throw error(exit_code::usage,
              std::string(variable) + " is \"" + wanted + "\" in the environment: give " + legal + ", or unset it");
}

/// A scope that sets a choice of the process for all threads, for tests and benchmarks. The
/// destructor restores the previous one.
template <class Choice>
class forced {
 public:
  forced(std::atomic<Choice>& cell, Choice choice) : cell_(cell), before_(cell.exchange(choice)) {}
  ~forced() { cell_.store(before_); }
  forced(forced const&) = delete;
  forced& operator=(forced const&) = delete;

 private:
  std::atomic<Choice>& cell_;
  Choice before_;
};

}  // namespace redco::tensors
