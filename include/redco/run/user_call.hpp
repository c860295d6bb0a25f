#pragma once

#include <redco/diag/error.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

namespace redco {

/// Calls a user's function; what it throws leaves as an error (exit code 70) that names the function and the step. redco's
/// own errors pass, they say more.
template <class F>
decltype(auto) user_call(char const* function, std::int64_t step, F&& f) {
  auto const place = [&] { return "step " + std::to_string(step + 1) + ", in " + function + ": "; };
  try {
    return std::forward<F>(f)();
  } catch (error const&) {
    throw;
  } catch (c10::Error const& e) {
    throw error(exit_code::internal, place() + e.what_without_backtrace());
  } catch (std::exception const& e) {
    throw error(exit_code::internal, place() + e.what());
  }
}

}  // namespace redco
