#pragma once

#include <cstdint>

namespace redco {

/// A learning-rate schedule: rises linearly from 0 to `peak` over the first `warmup` steps, then
/// stays at `peak`.
struct constant {
  double peak = 1e-3;
  std::int64_t warmup = 0;
};

/// A learning-rate schedule: rises linearly from 0 to `peak` over the first `warmup` steps, then
/// falls linearly to 0 at step `total`. If `total` is 0, the number of steps of the run is used.
/// Source: get_linear_schedule_with_warmup of transformers. The name is not `linear`, because a
/// layer type has this name.
struct linear_decay {
  double peak = 1e-3;
  std::int64_t warmup = 0;
  std::int64_t total = 0;
};

/// A learning-rate schedule: rises linearly from 0 to `peak` over the first `warmup` steps, then
/// falls along half a cosine to `floor` at step `total`. If `total` is 0, the number of steps of
/// the run is used. With `floor` = 0, equals get_cosine_schedule_with_warmup of transformers.
struct cosine {
  double peak = 1e-3;
  std::int64_t warmup = 0;
  double floor = 0;
  std::int64_t total = 0;
};

/// A learning-rate schedule of two half cosines over `total` steps. If `total` is 0, the number of
/// steps of the run is used. The rate rises from peak / div to `peak` during the first fraction
/// `rise` of the steps, then falls to peak / div / final_div at the last step.
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
