#pragma once

#include <redco/cost/setup.hpp>

#include <redco/fact/work.hpp>
#include <redco/shape/saturating.hpp>

#include <cstdint>

namespace redco::cost {

/// The floating-point operations of matrix products in one step of one replica, summed over all its
/// shards and micro-batches.
struct operations {
  std::int64_t forward = 0;
  /// Operations of backward, for the gradients of both factors of every product
  std::int64_t backward = 0;
  std::int64_t again = 0;    ///< Operations of the second forward of recomputed blocks
  std::int64_t columns = 0;  ///< Operations of forward with column-parallel weights
  std::int64_t rows = 0;     ///< Operations of forward with row-parallel weights

  constexpr std::int64_t total() const {
    return shape::saturating_add(shape::saturating_add(forward, backward), again);
  }
  /// Returns the operations of the step divided by its number of tokens, or of examples if the
  /// sequence length is 1.
  constexpr double per_token(setup const& s) const {
    return static_cast<double>(total()) / static_cast<double>(s.load.batch * s.load.sequence * s.micro_batches);
  }

  friend constexpr bool operator==(operations const&, operations const&) = default;
};

constexpr operations operations_of(fact::work const& forward, setup const& s) {
  auto const times = [](std::int64_t a, std::int64_t b) { return shape::saturating_multiply(a, b); };
  return {times(forward.all, s.micro_batches), times(times(forward.all, 2), s.micro_batches),
          times(forward.again, s.micro_batches), times(forward.columns, s.micro_batches),
          times(forward.rows, s.micro_batches)};
}

}  // namespace redco::cost
