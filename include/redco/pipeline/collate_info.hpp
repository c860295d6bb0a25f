#pragma once

#include <redco/random/stream.hpp>

#include <cstdint>

namespace redco {

/// What a collate function may know besides its examples, if it takes a second argument: enough to give the same
/// tensors whatever the mesh.
struct collate_info {
  std::int64_t longest = 0;  ///< size of the longest example of the step on all ranks: pad to it; 0 if they have none
  std::int64_t first_example = 0;  ///< place of examples[0] among the examples of the step on all ranks
  std::uint64_t seed = 0;          ///< of the run
  std::uint64_t step = 0;          ///< optimizer step, from 0

  /// The random numbers of examples[i] in this step: equal on every mesh, and for every way to cut the step into
  /// batches.
  constexpr random::stream random(std::int64_t i) const {
    constexpr std::uint32_t site = 0xC011A7E;  // apart from the layers, which are numbered from 0
    return random::make_stream(seed, site, step, static_cast<std::uint32_t>(first_example + i));
  }
};

}  // namespace redco
