#pragma once

#include <redco/diag/run_place.hpp>

#include <cstdint>
#include <string>

namespace redco::comm::detail {

/// Returns the training step of the calling thread as part of a sentence: "in step 4, ". Returns an
/// empty text if the thread is in no step.
inline std::string step_text() {
  std::int64_t const step = diag::run_place::here().step;
  return step < 0 ? "" : "in step " + std::to_string(step + 1) + ", ";
}

}  // namespace redco::comm::detail
