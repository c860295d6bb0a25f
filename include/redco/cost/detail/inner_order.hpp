#pragma once

#include <redco/fact/event.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace redco::cost::detail {

/// Returns the indices of a program's events in the order of forward in the last blocks of each
/// type, inside an outermost block. Usually this is the program's order. An exception is a nested
/// stack of alternating block types that ends with an incomplete cycle. There, the last blocks of
/// the first types come after the last blocks of the other types.
constexpr std::vector<std::size_t> inner_order(std::vector<fact::event> const& events) {
  struct open_row {
    std::size_t begin, earliest;
  };
  std::vector<std::size_t> order;
  std::vector<open_row> rows;
  int depth = 0;
  order.reserve(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    order.push_back(i);
    fact::block_slice const& blocks = events[i].blocks;
    bool const begins = events[i].what == fact::event_kind::repeat;
    if (begins) ++depth;
    bool const outermost = depth <= 1;
    if (events[i].what == fact::event_kind::repeat_end) --depth;
    if (blocks.step == 1 || outermost) continue;
    if (begins) {
      if (blocks.first == 0) rows.push_back({i, i});
      if (blocks.has(blocks.last_round())) rows.back().earliest = i;
    } else if (blocks.is_last_slice()) {
      auto const at = [&](std::size_t place) { return order.begin() + static_cast<std::ptrdiff_t>(place); };
      std::rotate(at(rows.back().begin), at(rows.back().earliest), at(i + 1));
      rows.pop_back();
    }
  }
  return order;
}

}  // namespace redco::cost::detail
