#pragma once

#include <cstdint>

namespace redco::update {

/// A range [begin, end) of a flat gradient buffer, and the weight of its squares in the global
/// norm. The weight is 1 for elements that only this rank holds, 1 / n for elements of which n
/// ranks hold equal copies, and 0 for padding.
struct norm_range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  double weight = 1;
};

}  // namespace redco::update
