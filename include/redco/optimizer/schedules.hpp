#pragma once

#include <cstdint>

namespace redco {

/// A learning-rate schedule: linear from 0 to `peak` over the first `warmup` steps, then `peak`.
struct constant {
  double peak = 1e-3;
  std::int64_t warmup = 0;
};

/// A learning-rate schedule: linear from 0 to `peak` over the first `warmup` steps, then linear
/// down to 0. The rate reaches 0 at step `total` (0: number of steps of the run). Source:
/// get_linear_schedule_with_warmup of transformers. Not named `linear`, because a layer type has
/// this name.
struct linear_decay {
  double peak = 1e-3;
  std::int64_t warmup = 0;
  std::int64_t total = 0;
};

/// A learning-rate schedule: linear from 0 to `peak` over the first `warmup` steps, then half a
/// cosine down to `floor`. The cosine ends at step `total` (0: number of steps of the run). With
/// floor 0 it equals get_cosine_schedule_with_warmup of transformers.
struct cosine {
  double peak = 1e-3;
  std::int64_t warmup = 0;
  double floor = 0;
  std::int64_t total = 0;
};

/// A learning-rate schedule of two half cosines over `total` steps (0: number of steps of the run).
/// The rate rises from peak / div to `peak` in the first fraction `rise` of the steps. The rate
/// then falls to peak / div / final_div at the last step.
///
/// Source: torch's OneCycleLR with its defaults; Smith and Topin, Super-convergence, 2017.
struct one_cycle {
  double peak = 1e-3;
  double rise = 0.3;
  double div = 25;
  double final_div = 1e4;
  std::int64_t total = 0;
};

}  // namespace redco
