#pragma once

#include <cstddef>

namespace redco::json {

/// A set of limits for JSON texts. A text beyond the limits is refused.
struct json_limits {
  std::size_t bytes = 100'000'000;  ///< bytes of text; the limit of a safetensors header
  /// Depth of objects and arrays inside each other.
  std::size_t depth = 64;
  /// Number of values of all kinds, without keys; bounds the memory for a text of tiny entries.
  std::size_t values = 4'000'000;
};

}  // namespace redco::json
