#pragma once

#include <cstddef>

namespace redco::json {

/// A set of limits for JSON texts. The JSON parser refuses a text that exceeds a limit.
struct json_limits {
  /// Maximum size of a JSON text in bytes; equals the maximum size of a safetensors header.
  std::size_t bytes = 100'000'000;
  /// Maximum depth of nested objects and arrays in a JSON text.
  std::size_t depth = 64;
  /// Maximum number of values in a JSON text, of all kinds but without keys. Bounds the memory for
  /// a text of many tiny values.
  std::size_t values = 4'000'000;
};

}  // namespace redco::json
