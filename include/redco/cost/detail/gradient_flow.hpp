#pragma once

#include <redco/fact/block_slices.hpp>
#include <redco/fact/event.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/program.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::cost::detail {

/// A traversal of a program that finds where backward ends if the first layers are frozen. An
/// activation has a gradient if a trained parameter, or another activation with a gradient, is used
/// to compute it. Backward sends only gradients that exist. Equal blocks may differ in this: with
/// adapters, the input of the first block has no gradient, and the inputs of later blocks have one.
class gradient_flow {
 public:
  constexpr explicit gradient_flow(fact::program const& p) : events_(p.events), program_(p) {
    bool some_frozen = false;
    for (fact::parameter_fact const& one : p.parameters) some_frozen = some_frozen || !one.trained;
    if (some_frozen) visit();
  }

  /// Returns how many times a micro-batch sends the message with this index in
  /// program::messages, without recomputation.
  constexpr std::int64_t sent(std::size_t message) const {
    return sent_.empty() ? program_.messages[message].copies : sent_[message];
  }
  /// Returns true if backward reaches the layer of the message, so that it recomputes the layer if
  /// the run asks for that.
  constexpr bool runs_again(std::size_t message) const { return runs_again_.empty() || runs_again_[message] != 0; }

 private:
  /// Numbers of instances of an event in repeated blocks: all of them, and the instances that the
  /// current traversal of one block counts.
  struct instances {
    std::int64_t all = 1, walked = 1;
  };

  /// Visits all events. Not called if each parameter is trained, because constant expressions have
  /// a limited number of steps.
  constexpr void visit() {
    for (fact::message_fact const& one : program_.messages) {
      sent_.push_back(one.backward ? 0 : one.copies);
      runs_again_.push_back(0);
    }
    walk(0, events_.size(), {1, 1});
  }

  constexpr bool has(int id) const {
    return id >= 0 && static_cast<std::size_t>(id) < graded_.size() && graded_[static_cast<std::size_t>(id)] != 0;
  }
  constexpr void put(int id, bool graded) {
    if (id < 0) return;
    while (graded_.size() <= static_cast<std::size_t>(id)) graded_.push_back(0);
    graded_[static_cast<std::size_t>(id)] = graded;
  }

  /// Returns true if an activation has a gradient, given the parameters declared since the latest
  /// `make` event, and forgets these parameters.
  constexpr bool take(int id) {
    bool const graded = has(id) || trained_ || reads_graded_;
    trained_ = adapted_ = reads_graded_ = false;
    return graded;
  }

  constexpr void walk(std::size_t begin, std::size_t end, instances const& of) {
    for (std::size_t i = begin; i < end; ++i) {
      fact::event const& e = events_[i];
      switch (e.kind) {
        case fact::event_kind::parameter: declare(program_.parameters[static_cast<std::size_t>(e.count)]); break;
        case fact::event_kind::read: reads_graded_ = reads_graded_ || has(e.tensor.id); break;
        case fact::event_kind::make:
          put(e.tensor.id, take(e.from));
          made_ = e.tensor.id;
          enters_ = false;
          break;
        case fact::event_kind::receive: put(e.tensor.id, true); break;
        case fact::event_kind::enter: enters_ = true; break;
        case fact::event_kind::message: send(e, of); break;
        case fact::event_kind::repeat: i = walk_row(i, of); break;
        default: break;
      }
    }
  }

  constexpr void declare(fact::parameter_fact const& fact) {
    if (!fact.trained) return;
    trained_ = true;
    adapted_ = adapted_ || fact.why == fact::reason::adapter || fact.why == fact::reason::adapter_whole;
  }

  constexpr void send(fact::event const& e, instances const& of) {
    auto const message = static_cast<std::size_t>(e.count);
    fact::message_fact const& fact = program_.messages[message];
    if (!fact.backward) return;
    // A layer declares that its input enters before its parameters. Parameters of adapters that
    // stand there belong to the layer that made the input.
    bool const enters = enters_, waiting = enters ? adapted_ && e.from == made_ : trained_;
    enters_ = false;
    if (e.from >= 0 && !has(e.from) && !waiting) return;
    sent_[message] += (fact.copies + of.all - 1) / of.all * of.walked;
  }

  /// Visits a stack of repeated blocks, whose first event has the index `begin`. Returns the index
  /// of its last event. The first round of the block types is visited by itself. In all later
  /// rounds, equal activations have gradients.
  constexpr std::size_t walk_row(std::size_t begin, instances const& of) {
    std::size_t const end = end_of_row(begin);
    bool const graded = walk_round(begin, end, has(events_[begin].from) || trained_, true, of);
    if (events_[begin].blocks.count() > 1) walk_round(begin, end, graded, false, of);
    return end;
  }

  /// Visits one block of each type of a stack, or those of all rounds after the first. `graded`:
  /// true if the input of the first block has a gradient. Returns true if the last output has one.
  constexpr bool walk_round(std::size_t begin, std::size_t end, bool graded, bool is_first, instances const& of) {
    for (std::size_t i = begin; i <= end; ++i) {
      std::size_t const last = end_of_block(i);
      std::int64_t const count = events_[i].blocks.count();
      instances const inside{of.all * count, is_first ? of.walked : of.walked * (count - 1)};
      trained_ = adapted_ = reads_graded_ = false;
      put(events_[i].tensor.id, graded);
      if (inside.walked > 0) walk(i + 1, last, inside);
      graded = take(events_[last].tensor.id);
      put(events_[last].tensor.id, graded);
      for (std::size_t j = i; graded && j < last; ++j)
        if (events_[j].kind == fact::event_kind::message) runs_again_[static_cast<std::size_t>(events_[j].count)] = 1;
      i = last;
    }
    return graded;
  }

  /// Returns the index of the event that ends the block type whose first event has this index.
  constexpr std::size_t end_of_block(std::size_t begin) const {
    int depth = 0;
    for (std::size_t i = begin;; ++i) {
      if (events_[i].kind == fact::event_kind::repeat) ++depth;
      if (events_[i].kind == fact::event_kind::repeat_end && --depth == 0) return i;
    }
  }
  constexpr std::size_t end_of_row(std::size_t begin) const {
    std::size_t end = end_of_block(begin);
    while (!events_[end].blocks.is_last_slice()) end = end_of_block(end + 1);
    return end;
  }

  std::vector<fact::event> const& events_;
  fact::program const& program_;
  /// Indexed like program::messages; empty if each parameter is trained
  std::vector<std::int64_t> sent_;
  std::vector<char> runs_again_;
  std::vector<char> graded_;  ///< Indexed by flow::id: 1 for activations that have a gradient
  int made_ = -1;             ///< flow::id of the latest activation
  /// True if trained parameters, or those of adapters, were declared since the latest `make` event
  bool trained_ = false, adapted_ = false;
  bool reads_graded_ = false;  ///< True if a tensor read since then has a gradient
  bool enters_ = false;        ///< True between an `enter` event and its message
};

}  // namespace redco::cost::detail
