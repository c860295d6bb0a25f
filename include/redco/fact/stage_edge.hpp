#pragma once

#include <redco/fact/event.hpp>
#include <redco/fact/program.hpp>

#include <cstddef>
#include <cstdint>

namespace redco::fact {

/// Returns the `repeat_end` event of the block before the block with index `block`, counted over
/// all outermost `repeat`s. Its tensor is the activation that passes a cut between the two blocks.
/// Requires that the model has at least `block` blocks and `block` is at least 1.
constexpr event const& output_before(program const& of, std::int64_t block) {
  std::int64_t before = 0;  // number of blocks of the stacks before the current event
  int depth = 0;
  for (std::size_t i = 0;; ++i) {
    event const& e = of.events[i];
    if (e.kind == event_kind::repeat) ++depth;
    if (e.kind != event_kind::repeat_end || --depth > 0) continue;
    if (block <= before + e.blocks.times && e.blocks.has(block - 1 - before)) return e;
    if (e.blocks.is_last_slice()) before += e.blocks.times;
  }
}

/// The tensors that a pipeline stage sends to the next stage in forward: hidden states, and the
/// encoder's states if blocks of a decoder come before and after the cut.
struct stage_edge {
  flow hidden;
  flow states;  ///< Encoder's states; of rank 0 if the edge does not carry them

  constexpr bool has_states() const { return states.shape.rank > 0; }
};

/// Returns the tensors that cross a cut of the model before the block with index `block`. Has the
/// requirements of output_before().
constexpr stage_edge stage_edge_at(program const& of, std::int64_t block) {
  stage_edge result{output_before(of, block).tensor, {}};
  if (block > of.encoder_blocks) result.states = of.encoded;
  return result;
}

}  // namespace redco::fact
