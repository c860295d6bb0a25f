#pragma once

#include <cstdint>

namespace redco {

/// A schedule: linear from 0 to `peak` over the first `warmup` steps, then `peak`.
struct constant {
  double peak = 1e-3;
  std::int64_t warmup = 0;
};

}  // namespace redco
