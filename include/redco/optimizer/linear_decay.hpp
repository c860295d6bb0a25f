#pragma once

#include <cstdint>

namespace redco {

/// A schedule: linear from 0 to `peak` over the first `warmup` steps, then linear to 0 at step `total` (0: the steps of
/// the run). Source: transformers' get_linear_schedule_with_warmup. (The layer type owns the name `linear`.)
struct linear_decay {
  double peak = 1e-3;
  std::int64_t warmup = 0;
  std::int64_t total = 0;
};

}  // namespace redco
