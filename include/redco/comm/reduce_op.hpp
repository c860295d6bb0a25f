#pragma once

#include <cstdint>
#include <string_view>

namespace redco::comm {

/// An operation that combines the elements of all ranks. The results of max and min are NaN if any
/// rank's element is NaN.
enum class reduce_op : std::uint8_t { sum, max, min };

/// Returns the name of the operation for messages: "sum", "max" or "min".
constexpr std::string_view name_of(reduce_op op) {
  constexpr std::string_view names[] = {"sum", "max", "min"};
  return names[static_cast<std::size_t>(op)];
}

}  // namespace redco::comm
