#pragma once

#include <redco/shape/axis.hpp>

#include <cstdint>

namespace redco {

/// Rules for a tensor whose units cannot be divided evenly among the ranks along an axis.
enum class remainder : std::uint8_t {
  refused,  ///< The mesh is illegal
  /// The last ranks hold fewer units or none, and padding. Used for vocabularies.
  padded,
  /// Fewer units than ranks are legal: neighbouring ranks, a sharer group, hold the same unit. Used
  /// for key-value heads.
  shared,
};

/// A place, the cut of a tensor over a mesh axis: along one dimension, in indivisible units, over
/// the ranks of the axis.
struct place {
  redco::axis axis = axis::tp;
  int dim = -1;            ///< Dimension that is cut; -1: none
  std::int64_t units = 0;  ///< Number of units along dim, such as heads, columns or rows
  remainder rest = remainder::refused;

  /// Returns true if the tensor can be cut over `ranks` ranks: the units divide evenly, or may be
  /// padded or shared.
  constexpr bool can_cut(int ranks) const {
    if (dim < 0 || ranks == 1) return true;
    if (rest == remainder::padded) return ranks <= units;
    return units % ranks == 0 || (rest == remainder::shared && ranks % units == 0);
  }

  /// Returns the size of a sharer group: the number of neighbouring ranks of the axis that hold the
  /// same part. Requires can_cut(ranks).
  constexpr int sharers(int ranks) const {
    return rest == remainder::shared && units < ranks ? static_cast<int>(ranks / units) : 1;
  }

  friend constexpr bool operator==(place const&, place const&) = default;
};

/// Returns the extent of each rank's part, including padding, of a dimension `extent` with `units`
/// equal units.
constexpr std::int64_t part_extent(std::int64_t extent, std::int64_t units, int ranks) {
  return (units + ranks - 1) / ranks * (extent / units);
}

}  // namespace redco
