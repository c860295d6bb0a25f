#pragma once

#include <redco/options/fit_settings.hpp>

#include <algorithm>
#include <cstdint>

namespace redco::options {

/// The length of a run: number of examples per epoch, of steps per epoch, and of steps of the run.
struct run_length {
  std::int64_t examples = 0;
  std::int64_t steps_per_epoch = 0;
  std::int64_t steps = 0;
};

/// Returns the length of a run whose epochs have `examples` examples. Requires settings that
/// check_fit() accepts.
inline run_length run_length_of(options::fit_settings const& s, std::int64_t examples) {
  std::int64_t const per_epoch = (examples + *s.global_batch - 1) / *s.global_batch;
  std::int64_t const all = per_epoch * static_cast<std::int64_t>(*s.epochs);
  return {examples, per_epoch, *s.max_steps > 0 ? std::min(all, *s.max_steps) : all};
}

}  // namespace redco::options
