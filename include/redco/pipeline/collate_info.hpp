#pragma once

#include <redco/random/stream.hpp>

#include <cstdint>

namespace redco::pipelines {

/// Information for a collate function that has a second parameter. A collate function that uses no
/// other state makes equal tensors on every mesh.
struct collate_info {
  /// Length of the longest example of the step over all ranks, to which collate can pad; 0 if the
  /// user gave no function for the length of an example.
  std::int64_t longest = 0;
  /// Index of the micro-batch's first example among the examples of the step over all ranks.
  std::int64_t first_example = 0;
  std::uint64_t seed = 0;  ///< seed of the run
  std::uint64_t step = 0;  ///< index of the optimizer step in the run, from 0

  /// Returns a stream of random numbers for example `i` of the micro-batch in this step. The
  /// numbers do not depend on the mesh, nor on the division of the step into micro-batches.
  constexpr random::stream random(std::int64_t i) const {
    // The layers' sites count from 0, so they do not collide with this one.
    constexpr std::uint32_t site = 0xC011A7E;
    return random::make_stream(seed, site, step, static_cast<std::uint32_t>(first_example + i));
  }
};

}  // namespace redco::pipelines
