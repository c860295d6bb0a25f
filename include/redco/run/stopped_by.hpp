#pragma once

#include <redco/diag/error.hpp>
#include <redco/diag/exit_code.hpp>
#include <redco/diag/signals.hpp>

#include <cstdint>
#include <string>

namespace redco::run {

/// Returns the error with exit code 75 that ends a run after a signal. The caller throws it after
/// everything is saved.
inline error stopped_by(int signal, std::int64_t step) {
  return {exit_code::preempted, "stopped by " + std::string(diag::signal_name(signal)) + " after step " +
                                    std::to_string(step) + "; the run is saved: the same command continues it"};
}

}  // namespace redco::run
