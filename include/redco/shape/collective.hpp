#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redco {

/// Kinds of communication call of a group of ranks. Plans, counters and messages of errors use
/// them.
enum class collective : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  send,
  recv,
  barrier,
};

/// Number of values of the enumeration `collective`.
inline constexpr std::size_t collectives = 8;

/// Returns the name of a kind of communication call, such as "all_reduce".
constexpr std::string_view name_of(collective what) {
  constexpr std::string_view names[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                        "broadcast",  "send",       "recv",           "barrier"};
  return names[static_cast<std::size_t>(what)];
}

}  // namespace redco
