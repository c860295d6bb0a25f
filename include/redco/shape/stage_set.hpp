#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>

namespace redco {

/// The pipeline stages that hold a parameter: all of a run, one, or several (tied embeddings lie on the first and the last). Stages
/// are numbers from 0 to 63.
class stage_set {
 public:
  /// All stages of a run.
  constexpr stage_set() = default;
  constexpr stage_set(std::initializer_list<int> stages) : bits_(0) {
    for (int const stage : stages) bits_ |= std::uint64_t{1} << stage;
  }

  constexpr bool has(int stage) const { return (bits_ >> stage & 1) != 0; }

  /// Returns the number of these stages in a run of `stages` stages.
  constexpr int count(int stages) const {
    return std::popcount(stages < 64 ? bits_ & ((std::uint64_t{1} << stages) - 1) : bits_);
  }

  /// Returns the first of these stages.
  constexpr int first() const { return std::countr_zero(bits_); }

  friend constexpr bool operator==(stage_set, stage_set) = default;

 private:
  std::uint64_t bits_ = ~std::uint64_t{0};
};

}  // namespace redco
