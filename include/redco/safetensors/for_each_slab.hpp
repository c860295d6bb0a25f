#pragma once

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/safetensors_entry.hpp>

#include <algorithm>
#include <cstdint>

namespace redco::safetensors {

/// Calls `visit(box)` for boxes that divide a tensor along its first dimension, in the order of its
/// bytes. A box has at most 16 MiB, but at least one row.
template <class Visit>
void for_each_slab(safetensors_entry const& entry, Visit visit) {
  constexpr std::int64_t most = 16 << 20;
  box slab = whole(entry.shape);
  if (entry.begin == entry.end) return;
  if (entry.shape.empty()) return visit(slab);
  std::int64_t const extent = entry.shape.front();
  std::int64_t const row = static_cast<std::int64_t>(entry.end - entry.begin) / extent;
  std::int64_t const rows = std::max<std::int64_t>(1, most / row);
  for (std::int64_t begin = 0; begin < extent; begin += rows) {
    slab.offset.front() = begin;
    slab.shape.front() = std::min(rows, extent - begin);
    visit(slab);
  }
}

}  // namespace redco::safetensors
