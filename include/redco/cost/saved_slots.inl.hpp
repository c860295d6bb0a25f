#pragma once

#include <redco/cost/saved_slots.hpp>

#include <redco/cost/local_extents.hpp>

#include <redco/fact/event.hpp>
#include <redco/fact/path.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

namespace redco::cost::detail {

/// A traversal of a program in the order of forward, through every block of each `repeat`. Collects
/// the saved storages in `slots`.
class slot_list {
 public:
  slot_list(fact::program const& p, setup const& s) : program_(p), setup_(s) { go_through(0, p.events.size()); }

  std::vector<saved_slot> slots;

 private:
  static constexpr int batch = 0;  // storage of the model's input

  void go_through(std::size_t first, std::size_t end) {
    using fact::event_kind;
    for (std::size_t i = first; i < end; ++i) {
      fact::event const& e = program_.events[i];
      if (e.min_shards_exclusive > 0 && setup_.mesh.tp <= e.min_shards_exclusive) continue;
      if (e.kind == fact::event_kind::make) storages_[e.tensor.id] = ++last_storage_;
      if (e.kind == fact::event_kind::save) save(e);
      if (e.kind == fact::event_kind::repeat) i = go_through_row(i);
    }
  }

  /// Traverses all blocks of a stack of repeated blocks, whose first event has the index `begin`.
  /// Returns the index of the stack's last event.
  std::size_t go_through_row(std::size_t begin) {
    // First and last events of the row's slices
    std::vector<std::size_t> begins{begin}, ends{end_of(begin)};
    while (!program_.events[begins.back()].blocks.is_last_slice()) {
      begins.push_back(ends.back() + 1);
      ends.push_back(end_of(begins.back()));
    }
    int storage = storages_[program_.events[begin].from];
    for (std::int64_t i = 0; i < program_.events[begin].blocks.times; ++i) {
      std::size_t const slice = static_cast<std::size_t>(i) % begins.size();
      fact::event const& in = program_.events[begins[slice]];
      int const output = program_.events[ends[slice]].tensor.id;
      std::int64_t const number = in.blocks.base + i;
      bool const runs_again = blocks_.empty() && setup_.recompute.has(number);
      blocks_.push_back({in.blocks.number(), number});
      storages_[in.tensor.id] = storage;
      if (runs_again) {
        save(in);
        storages_[output] = ++last_storage_;
      } else {
        go_through(begins[slice] + 1, ends[slice]);
      }
      storage = storages_[output];
      blocks_.pop_back();
    }
    return ends.back();
  }

  /// Returns the index of the `repeat_end` event for the `repeat` event with index `begin`.
  std::size_t end_of(std::size_t begin) const {
    std::size_t end = begin;
    for (int open = 1; open > 0;) {
      fact::event_kind const kind = program_.events[++end].kind;
      open += kind == fact::event_kind::repeat;
      open -= kind == fact::event_kind::repeat_end;
    }
    return end;
  }

  void save(fact::event const& e) {
    saved_slot::owner owner{layer_of(e), std::string(e.slot)};
    extents const shape = local_extents(e.tensor, setup_.mesh.tp);
    if (e.adjacent) {
      saved_slot& one = slots.back();
      one.owners.back().name += ", " + owner.name;
      one.shape[-1] += shape[-1];
      return;
    }
    int const storage = e.tensor.id < 0 ? ++last_storage_ : storages_[e.tensor.id];
    if (storage == batch) return;
    auto const [known, is_new] = slot_of_.emplace(storage, slots.size());
    if (is_new) slots.push_back({{}, type_of(e.width, setup_.compute), shape});
    auto& owners = slots[known->second].owners;
    if (owners.empty() || owners.back().layer != owner.layer) owners.push_back(std::move(owner));
  }

  /// Returns the path of an event's layer, in which the indices of the current blocks replace the
  /// components "*" and slices.
  std::string layer_of(fact::event const& e) const {
    std::string text;
    std::size_t level = 0;
    for (std::string_view rest = program_.layer_of(e); !rest.empty();) {
      std::string_view const component = rest.substr(0, rest.find('.'));
      rest.remove_prefix(std::min(component.size() + 1, rest.size()));
      if (!text.empty()) text += '.';
      bool const is_block = level < blocks_.size() && component == blocks_[level].number.view();
      text += is_block ? std::to_string(blocks_[level++].index) : std::string(component);
    }
    return text;
  }

  struct open_block {
    /// Component that replaces the block's index in the paths of layers: "*" or a slice such as
    /// "1::2".
    fact::path number;
    std::int64_t index = 0;
  };

  fact::program const& program_;
  setup const& setup_;
  std::vector<open_block> blocks_;  ///< Blocks that enclose the current event, the outermost first
  /// Map from activation number (flow::id) to storage number; the storage of the model's input is
  /// `batch`.
  std::map<int, int> storages_;
  std::map<int, std::size_t> slot_of_;  ///< Map from storage number to index in `slots`
  int last_storage_ = batch;
};

}  // namespace redco::cost::detail

namespace redco::cost {

REDCO_INLINE std::vector<saved_slot> saved_slots(fact::program const& facts, setup const& run) {
  return detail::slot_list(facts, run).slots;
}

}  // namespace redco::cost
