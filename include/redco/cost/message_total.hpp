#pragma once

#include <redco/shape/axis.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/ring_bytes.hpp>
#include <redco/shape/traffic.hpp>

#include <cstdint>
#include <string_view>

namespace redco::cost {

/// The messages of one purpose that one rank takes part in during a step. A group of one rank sends none.
struct message_total : traffic::entry {
  std::string_view purpose;
  axes over = axis::tp;  ///< along which the group lies
  collective what = collective::all_reduce;
  int ranks = 1;

  constexpr void add(std::int64_t times, std::int64_t payload) {
    if (ranks == 1) return;
    *this += {times, times * payload, times * ring_bytes(what, payload, ranks)};
  }

  friend constexpr bool operator==(message_total const&, message_total const&) = default;
};

}  // namespace redco::cost
