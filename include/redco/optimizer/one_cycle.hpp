#pragma once

#include <cstdint>

namespace redco {

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
