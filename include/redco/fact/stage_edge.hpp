#pragma once

#include <redco/fact/event.hpp>
#include <redco/fact/program.hpp>

#include <cstdint>

namespace redco::fact {

/// The tensors that a pipeline stage sends to the next stage in forward: hidden states, and the
/// encoder's states if blocks of a decoder come before and after the cut.
struct stage_edge {
  flow hidden;
  flow states;  ///< Encoder's states; of rank 0 if the edge does not carry them

  constexpr bool has_states() const { return states.shape.rank > 0; }
};

/// Returns the tensors that cross a cut of the model before the block with index `block`, counted
/// over all outermost `repeat`s. Requires that the model has more than `block` blocks and `block`
/// is at least 1.
constexpr stage_edge stage_edge_at(program const& of, std::int64_t block) {
  stage_edge result;
  std::int64_t before = 0;
  int depth = 0;
  for (event const& e : of.events) {
    if (e.kind == event_kind::repeat) ++depth;
    if (e.kind != event_kind::repeat_end || --depth > 0) continue;
    if (before < block && block <= before + e.blocks.times) result.hidden = e.tensor;
    if (e.blocks.is_last_slice()) before += e.blocks.times;
  }
  if (block > of.encoder_blocks) result.states = of.encoded;
  return result;
}

}  // namespace redco::fact
