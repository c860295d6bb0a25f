#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>

namespace redco {

/// Pipeline stages that hold a parameter: all stages of a run, one, or several (tied embeddings
/// lie on the first and the last). Stages are numbers from 0 to 63.
///
/// An aggregate: where a model is ill-formed, g++ 12 adds errors about constructors to ours.
struct stage_set {
  std::uint64_t bits = ~std::uint64_t{0};  ///< by default all stages of a run

  static constexpr stage_set of(std::initializer_list<int> stages) {
    stage_set some{0};
    for (int const stage : stages) some.bits |= std::uint64_t{1} << stage;
    return some;
  }

  constexpr bool has(int stage) const { return (bits >> stage & 1) != 0; }

  /// Returns the number of these stages in a run of `stages` stages.
  constexpr int count(int stages) const {
    return std::popcount(stages < 64 ? bits & ((std::uint64_t{1} << stages) - 1) : bits);
  }

  /// Returns the first of these stages.
  constexpr int first() const { return std::countr_zero(bits); }

  friend constexpr bool operator==(stage_set, stage_set) = default;
};

}  // namespace redco
