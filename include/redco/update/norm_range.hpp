#pragma once

#include <cstdint>

namespace redco::update {

/// A part [begin, end) of a flat gradient and the weight with which its square enters the global norm: 1 for what this
/// rank alone holds, 1 / n for what n ranks of the group hold alike, 0 for padding.
struct norm_range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  double weight = 1;
};

}  // namespace redco::update
