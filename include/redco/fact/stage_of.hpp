#pragma once

#include <redco/fact/block_slices.hpp>
#include <redco/fact/event.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/program.hpp>
#include <redco/fact/stage_edge.hpp>

#include <redco/shape/blocks.hpp>
#include <redco/shape/stage_cuts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace redco::fact::detail {

/// A copy of the events, parameters and messages of a model's program that one chunk of a pipeline
/// stage runs.
class chunk_program {
 public:
  constexpr chunk_program(program const& whole, shape::stage_cuts const& cuts, int chunk)
      : whole_(whole), cuts_(cuts), chunk_(chunk), own_(cuts.blocks(chunk)) {
    result_.layers = whole.layers;
    result_.messages = whole.messages;
    result_.mistake = whole.mistake;
    result_.encoded = whole.encoded;
    result_.encoder_blocks = whole.encoder_blocks;
  }

  constexpr program run() {
    if (chunk_ > 0) cross(event_kind::receive, own_.begin);
    std::int64_t before = 0;  // number of blocks of the stacks before the current event
    for (std::size_t i = 0; i < whole_.events.size(); ++i) {
      event const& e = whole_.events[i];
      if (e.kind == event_kind::repeat) {
        i = copy_row(i, before);
        before += e.blocks.times;
      } else if (e.kind == event_kind::parameter) {
        parameter_fact const& fact = whole_.parameters[static_cast<std::size_t>(e.count)];
        if (fact.is_read_in(cuts_, chunk_)) add_parameter(e, fact);
      } else if (e.on_stages_of.is_empty() ? cuts_.chunk_of(before) == chunk_
                                           : !own_.overlap(e.on_stages_of).is_empty()) {
        result_.events.push_back(e);
      }
    }
    if (chunk_ + 1 < cuts_.size()) cross(event_kind::send, own_.end);
    return std::move(result_);
  }

 private:
  /// Range [begin, end] of indices of the events of one block type of a stack.
  struct kind_events {
    std::size_t begin = 0, end = 0;
  };

  /// Returns the block types of the outermost stack whose first event has index `begin`.
  constexpr std::vector<kind_events> kinds_of(std::size_t begin) const {
    std::vector<kind_events> kinds;
    int depth = 0;
    for (std::size_t i = begin;; ++i) {
      event const& e = whole_.events[i];
      if (e.kind == event_kind::repeat && depth++ == 0) kinds.push_back({i, i});
      if (e.kind != event_kind::repeat_end || --depth > 0) continue;
      kinds.back().end = i;
      if (e.blocks.is_last_slice()) return kinds;
    }
  }

  constexpr event const& output_of(kind_events const& kind) const { return whole_.events[kind.end]; }

  /// Copies the chunk's blocks of the stack whose first event has index `begin`. `before` blocks
  /// run before the stack. Returns the index of the last event of the stack.
  constexpr std::size_t copy_row(std::size_t begin, std::int64_t before) {
    std::vector<kind_events> const kinds = kinds_of(begin);
    block_slice const whole = whole_.events[begin].blocks;
    shape::block_range const blocks = own_.overlap({before, before + whole.times});
    std::int64_t const first = blocks.begin - before, times = blocks.end - blocks.begin;
    for (std::int64_t i = 0; i < std::min(times, whole.step); ++i) {
      auto const kind = [&](std::int64_t block) { return kinds[static_cast<std::size_t>(block % whole.step)]; };
      block_slice const slice{times, i, whole.step, whole.base + first, whole.is_part};
      int const from = first + i == 0 ? whole_.events[begin].from : output_of(kind(first + i - 1)).tensor.id;
      copy_kind(kind(first + i), slice, from, blocks.has(0));
    }
    return kinds.back().end;
  }

  /// Copies the events of one block type of a stack, for the blocks `slice`. `from` is the number
  /// of the activation that the first of these blocks reads.
  constexpr void copy_kind(kind_events const& kind, block_slice const& slice, int from, bool has_first_block) {
    std::int64_t const count = slice.count(), all = whole_.events[kind.begin].blocks.count();
    for (std::size_t i = kind.begin; i <= kind.end; ++i) {
      event e = whole_.events[i];
      if (i == kind.begin || i == kind.end) e.blocks = slice;
      if (i == kind.begin) e.from = from;
      if (e.kind == event_kind::message) {
        // The first block of a model sends one message less if its input has no gradient.
        std::int64_t& copies = result_.messages[static_cast<std::size_t>(e.count)].copies;
        bool const less = copies % all != 0;
        copies = (copies + (less ? 1 : 0)) / all * count - (less && has_first_block ? 1 : 0);
      }
      if (e.kind == event_kind::parameter) {
        parameter_fact fact = whole_.parameters[static_cast<std::size_t>(e.count)];
        fact.blocks.slices[0] = slice;
        add_parameter(e, fact);
      } else {
        result_.events.push_back(e);
      }
    }
  }

  constexpr void add_parameter(event e, parameter_fact const& fact) {
    e.count = static_cast<std::int64_t>(result_.parameters.size());
    result_.events.push_back(e);
    result_.parameters.push_back(fact);
  }

  /// Adds events of the kind `crosses` (receive or send) for the tensors that pass the cut before
  /// block `block`. The activation passes each cut. The encoder's output passes a cut if blocks on
  /// both sides read it.
  constexpr void cross(event_kind crosses, std::int64_t block) {
    event const& at_cut = output_before(whole_, block);
    result_.events.push_back({.kind = crosses, .layer = at_cut.layer, .slot = "block_input", .tensor = at_cut.tensor});
    if (!stage_edge_at(whole_, block).has_states()) return;
    for (event e : whole_.events) {
      if (e.kind != event_kind::save || e.tensor.id != whole_.encoded.id) continue;
      event const states{.kind = crosses, .layer = e.layer, .slot = "states", .tensor = whole_.encoded};
      result_.events.push_back(states);
      e.tensor = whole_.encoded;
      if (crosses == event_kind::receive) result_.events.push_back(e);
      return;
    }
  }

  program const& whole_;
  shape::stage_cuts const& cuts_;
  int chunk_;
  shape::block_range own_;  ///< Blocks of the chunk
  program result_;
};

}  // namespace redco::fact::detail

namespace redco::fact {

/// Returns the program of one chunk of a pipeline stage: its blocks, the layers outside blocks that
/// it runs, and the parameters that these layers read. `chunk` is the index among the chunks of all
/// stages. The first chunk runs the layers before all blocks. Layers between two stacks of blocks
/// run in the chunk of the block that follows them. The last chunk runs the layers after all
/// blocks. At each cut, the program has a `receive` or `send` event for each tensor that passes it.
/// With one chunk, returns the program `whole`.
/// `cuts` must be a cut of all blocks of the model, whose stacks can be cut
/// (program::has_cuttable_rows).
constexpr program stage_of(program const& whole, shape::stage_cuts const& cuts, int chunk) {
  if (cuts.size() == 1) return whole;
  return detail::chunk_program(whole, cuts, chunk).run();
}

/// Returns the program of a pipeline stage whose chunks have the programs `chunks`, in the order of
/// forward. A parameter outside blocks that several chunks read is in it once. Requires at least
/// one chunk.
constexpr program joined(std::vector<program> const& chunks) {
  program all = chunks.front();
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    auto const first_message = static_cast<std::int64_t>(all.messages.size());
    for (message_fact const& one : chunks[i].messages) all.messages.push_back(one);
    for (event e : chunks[i].events) {
      if (e.kind == event_kind::message) e.count += first_message;
      if (e.kind == event_kind::parameter) {
        parameter_fact const& fact = chunks[i].parameters[static_cast<std::size_t>(e.count)];
        bool const known =
            fact.blocks.depth == 0 && std::any_of(all.parameters.begin(), all.parameters.end(),
                                                  [&](parameter_fact const& other) { return other.name == fact.name; });
        if (known) continue;
        e.count = static_cast<std::int64_t>(all.parameters.size());
        all.parameters.push_back(fact);
      }
      all.events.push_back(e);
    }
  }
  return all;
}

}  // namespace redco::fact
