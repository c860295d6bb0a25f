#pragma once

#include <redco/shape/axis.hpp>

#include <bit>
#include <cstdint>
#include <initializer_list>

namespace redco::shape {

/// Rules for a tensor dimension whose units (such as heads or rows) cannot be divided evenly among
/// the ranks of a mesh axis.
enum class remainder : std::uint8_t {
  refused,  ///< Rule: a mesh over which the units do not divide evenly is an error
  /// Rule: the last ranks hold fewer units or none, and padding. Used for vocabularies.
  padded,
  /// Rule: there may be fewer units than ranks: neighbouring ranks (a sharer group) then hold the
  /// same unit. Used for key-value heads.
  shared,
};

/// A place: the cut of a tensor over the ranks of a mesh axis. Cuts one dimension into parts of
/// whole units, such as heads or rows.
struct place {
  shape::axis axis = shape::axis::tp;
  int dim = -1;  ///< Dimension of the tensor that is cut; -1: none
  /// Number of indivisible units along the cut dimension, such as heads, columns or rows
  std::int64_t units = 0;
  remainder rest = remainder::refused;

  /// Returns true if the tensor can be cut over `ranks` ranks: the units divide evenly, or the rule
  /// `remainder` permits padding or shared units.
  constexpr bool can_cut(int ranks) const {
    if (dim < 0 || ranks == 1) return true;
    if (rest == remainder::padded) return ranks <= units;
    return units % ranks == 0 || (rest == remainder::shared && ranks % units == 0);
  }

  /// Returns the number of neighbouring ranks that hold the same part (a sharer group) if the
  /// tensor is cut over `ranks` ranks. Requires can_cut(ranks).
  constexpr int sharers(int ranks) const {
    return rest == remainder::shared && units < ranks ? static_cast<int>(ranks / units) : 1;
  }

  friend constexpr bool operator==(place const&, place const&) = default;
};

/// Returns the size of each rank's part of a dimension that has `extent` elements in `units` equal
/// units and is cut over `ranks` ranks. Includes padding.
constexpr std::int64_t part_extent(std::int64_t extent, std::int64_t units, int ranks) {
  return (units + ranks - 1) / ranks * (extent / units);
}

/// A set of pipeline stages that hold a parameter: all stages, one, or several (the first and the
/// last for tied embeddings). Stages are numbered from 0 to 63.
///
/// The type is an aggregate, because constructors would make g++ 12 print additional errors for an
/// ill-formed model.
struct stage_set {
  /// Set of stages as bits: bit i is set if stage i belongs to it; by default all stages
  std::uint64_t bits = ~std::uint64_t{0};

  static constexpr stage_set of(std::initializer_list<int> stages) {
    stage_set some{0};
    for (int const stage : stages) some.bits |= std::uint64_t{1} << stage;
    return some;
  }

  constexpr bool has(int stage) const { return (bits >> stage & 1) != 0; }

  /// Returns the number of stages in this set, for a run with `stages` stages.
  constexpr int count(int stages) const {
    return std::popcount(stages < 64 ? bits & ((std::uint64_t{1} << stages) - 1) : bits);
  }

  /// Returns the smallest stage number in this set.
  constexpr int first() const { return std::countr_zero(bits); }

  friend constexpr bool operator==(stage_set, stage_set) = default;
};

}  // namespace redco::shape
