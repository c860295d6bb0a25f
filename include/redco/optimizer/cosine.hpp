#pragma once

#include <cstdint>

namespace redco {

/// A schedule: linear from 0 to `peak` over the first `warmup` steps, then half a cosine from `peak` to `floor` at step
/// `total` (0: the steps of the run). With floor 0 it is transformers' get_cosine_schedule_with_warmup.
struct cosine {
  double peak = 1e-3;
  std::int64_t warmup = 0;
  double floor = 0;
  std::int64_t total = 0;
};

}  // namespace redco
