#pragma once

#include <cstddef>

namespace redco::json {

/// How much of a JSON text is believed before it is refused.
struct json_limits {
  std::size_t bytes = 100'000'000;  ///< of text: the cap of a safetensors header
  std::size_t depth = 64;           ///< of objects and arrays inside each other
  std::size_t values = 4'000'000;  ///< of all kinds, keys not counted: bounds the memory of a text full of tiny entries
};

}  // namespace redco::json
