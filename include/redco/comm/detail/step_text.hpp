#pragma once

#include <redco/diag/run_place.hpp>

#include <cstdint>
#include <string>

namespace redco::comm::detail {

/// Returns "in step 4, " with the current step of the calling thread, or an empty text if the
/// thread is in no step.
inline std::string step_text() {
  std::int64_t const step = diag::run_place::here().step;
  return step < 0 ? "" : "in step " + std::to_string(step + 1) + ", ";
}

}  // namespace redco::comm::detail
