#pragma once

#include <cstdint>

namespace redco {

/// Where a run stands in its data, saved in checkpoints: the epoch, and how many examples of that epoch's order all
/// ranks together have used. Counting examples, not steps, keeps the position meaningful when the global batch changes
/// on resume.
struct data_position {
  std::int64_t epoch = 0;
  std::int64_t position = 0;

  friend constexpr bool operator==(data_position const&, data_position const&) = default;
};

}  // namespace redco
