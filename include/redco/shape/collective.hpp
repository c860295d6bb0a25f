#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redco {

/// The calls of a group of ranks, as facts, plans, counters and messages name them.
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

inline constexpr std::size_t collectives = 8;  ///< how many kinds there are

/// The name of the call: "all_reduce", ...
constexpr std::string_view name_of(collective what) {
  constexpr std::string_view names[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                        "broadcast",  "send",       "recv",           "barrier"};
  return names[static_cast<std::size_t>(what)];
}

}  // namespace redco
