#pragma once

#include <cstdint>

namespace redco::update {

/// A range [begin, end) of a flat gradient, and the weight of its square in the global norm. The
/// weight is 1 for elements that only this rank holds, 1 / n for elements that n ranks hold
/// equally, and 0 for padding.
struct norm_range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  double weight = 1;
};

}  // namespace redco::update
