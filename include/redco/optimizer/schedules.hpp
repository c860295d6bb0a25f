#pragma once

#include <cstdint>

namespace redco {

/// A schedule: linear from 0 to `peak` over the first `warmup` steps, then `peak`.
struct constant {
  double peak = 1e-3;
  std::int64_t warmup = 0;
};

/// A schedule: linear from 0 to `peak` over the first `warmup` steps, then linear to 0 at step `total` (0: the steps of
/// the run). Source: transformers' get_linear_schedule_with_warmup. (The layer type owns the name `linear`.)
struct linear_decay {
  double peak = 1e-3;
  std::int64_t warmup = 0;
  std::int64_t total = 0;
};

/// A schedule: linear from 0 to `peak` over the first `warmup` steps, then half a cosine from `peak` to `floor` at step
/// `total` (0: the steps of the run). With floor 0 it is transformers' get_cosine_schedule_with_warmup.
struct cosine {
  double peak = 1e-3;
  std::int64_t warmup = 0;
  double floor = 0;
  std::int64_t total = 0;
};

/// A schedule: half a cosine from peak / div up to `peak` over the first `rise` part of `total` steps (0: the steps of
/// the run), then half a cosine down to peak / div / final_div at the last step. Source: torch's OneCycleLR with its
/// defaults; Smith and Topin, Super-convergence, 2017.
struct one_cycle {
  double peak = 1e-3;
  double rise = 0.3;
  double div = 25;
  double final_div = 1e4;
  std::int64_t total = 0;
};

}  // namespace redco
