#pragma once

#include <redco/diag/error.hpp>
#include <redco/diag/exit_code.hpp>
#include <redco/diag/signals.hpp>

#include <cstdint>
#include <string>

namespace redco::run {

/// The end of a run behind a signal, when all is saved: exit code 75.
inline error stopped_by(int signal, std::int64_t step) {
  return {exit_code::preempted, "stopped by " + std::string(diag::signal_name(signal)) + " after step " +
                                    std::to_string(step) + "; the run is saved: the same command goes on"};
}

}  // namespace redco::run
