#pragma once

#include <algorithm>
#include <cstdint>

namespace redco {

/// How many examples an epoch has, and how many updates it and the run.
struct run_length {
  std::int64_t examples = 0;
  std::int64_t steps_per_epoch = 0;
  std::int64_t steps = 0;
};

/// That of a run over `examples` in each epoch. Requires options that `check_fit_options` takes.
template <class Options>
run_length run_length_of(Options const& options, std::int64_t examples) {
  std::int64_t const per_epoch = (examples + options.global_batch - 1) / options.global_batch;
  std::int64_t const all = per_epoch * static_cast<std::int64_t>(options.epochs);
  return {examples, per_epoch, options.max_steps > 0 ? std::min(all, options.max_steps) : all};
}

}  // namespace redco
