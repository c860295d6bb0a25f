#pragma once

#include <redco/shape/axis.hpp>

#include <cstdint>

namespace redco {

/// What becomes of units that the ranks along an axis do not divide.
enum class remainder : std::uint8_t {
  refused,  ///< such a mesh is illegal
  padded,   ///< the last ranks hold fewer units, or none, and padding (vocabularies)
  shared,   ///< fewer units than ranks are legal: neighbours, a sharer group, hold the same unit (key-value heads)
};

/// One way in which ranks cut a tensor: along a dimension, in indivisible units, over the ranks of an axis.
struct place {
  redco::axis axis = axis::tp;
  int dim = -1;            ///< -1: not cut
  std::int64_t units = 0;  ///< along dim: heads, columns or rows
  remainder rest = remainder::refused;

  /// Whether `ranks` ranks can hold the tensor: the units divide, or may be padded or shared.
  constexpr bool can_cut(int ranks) const {
    if (dim < 0 || ranks == 1) return true;
    if (rest == remainder::padded) return ranks <= units;
    return units % ranks == 0 || (rest == remainder::shared && ranks % units == 0);
  }

  /// The size of a sharer group: how many neighbouring ranks of the axis hold the same part; requires can_cut.
  constexpr int sharers(int ranks) const {
    return rest == remainder::shared && units < ranks ? static_cast<int>(ranks / units) : 1;
  }

  friend constexpr bool operator==(place const&, place const&) = default;
};

/// The extent of every rank's part of `extent` = `units` equal units, padding included.
constexpr std::int64_t part_extent(std::int64_t extent, std::int64_t units, int ranks) {
  return (units + ranks - 1) / ranks * (extent / units);
}

}  // namespace redco
