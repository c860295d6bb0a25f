#pragma once

#include <redco/random/stream.hpp>

#include <cstdint>

namespace redco {

/// Information for a collate function with a second parameter. A collate function that uses only
/// this information gives the same tensors on every mesh.
struct collate_info {
  /// Length of the longest example of the step over all ranks, for padding; 0 if the
  /// run has no function for an example's length.
  std::int64_t longest = 0;
  /// Index of examples[0] among the examples of the step over all ranks.
  std::int64_t first_example = 0;
  std::uint64_t seed = 0;  ///< seed of the run
  std::uint64_t step = 0;  ///< index of the optimizer step, from 0

  /// Returns the random numbers of examples[i] in this step. They are equal on every mesh and for
  /// every division of the step into batches.
  constexpr random::stream random(std::int64_t i) const {
    // The layers' sites count from 0, so they do not collide with this one.
    constexpr std::uint32_t site = 0xC011A7E;
    return random::make_stream(seed, site, step, static_cast<std::uint32_t>(first_example + i));
  }
};

}  // namespace redco
