#pragma once

#include <redco/tensor/words_of.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/run_place.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

namespace redco::run {

/// Calls a user's function `f`. Rethrows its exceptions as `error`, with the name `function` and
/// the step in the message. The exit code is 70, or the code of an `error` that `f` throws.
template <class F>
decltype(auto) user_call(char const* function, std::int64_t step, F&& f) {
  auto const failure = [&](exit_code code, std::string const& message) {
    return error(code, "step " + std::to_string(step + 1) + ", in " + function + ": " + message);
  };
  diag::in_user_function const here(function, step);
  try {
    return std::forward<F>(f)();
  } catch (error const& e) {
    throw failure(e.code(), e.what());
  } catch (std::exception const& e) {
    throw failure(exit_code::internal, tensors::words_of(e));
  } catch (...) {
    throw failure(exit_code::internal, "threw something that is not a std::exception");
  }
}

}  // namespace redco::run
