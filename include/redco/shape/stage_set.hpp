#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>

namespace redco::shape {

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
