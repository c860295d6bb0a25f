#pragma once

#include <redco/cost/local_extents.hpp>
#include <redco/cost/setup.hpp>

#include <redco/fact/event.hpp>
#include <redco/fact/program.hpp>
#include <redco/fact/work.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::detail {

/// A tensor that one event of a program states, on one rank.
struct placed_tensor {
  enum class kind : std::uint8_t {
    none,          ///< not there on this mesh, or there already
    own,           ///< lives from forward to its layer's backward
    saved_input,   ///< the same; it is the input of each outermost block
    first_input,   ///< the same; of the first block only: the others' are saved as outputs
    block_input,   ///< from which an outermost block is run again
    block_output,  ///< what that gives; a copy where nothing in the block saves it
    batch,         ///< the batch's own
    loss,          ///< from the loss to its backward
    loss_workspace,
  };

  kind what = kind::none;
  std::int64_t bytes = 0;   ///< of one copy
  std::int64_t copies = 0;  ///< in the whole model
  std::int64_t blocks = 0;  ///< of the outermost repeat around it; 0: none is

  constexpr bool in_block() const { return blocks > 0; }
  constexpr bool is_saved() const {
    return what == kind::own || what == kind::saved_input || what == kind::first_input;
  }
  constexpr std::int64_t all() const { return bytes * copies; }
  /// Bytes that forward saves for backward.
  constexpr std::int64_t saved(bool recompute) const {
    return (recompute && in_block() ? what == kind::block_input : is_saved()) ? all() : 0;
  }
  /// In one outermost block.
  constexpr std::int64_t of_block() const { return bytes * ((copies + blocks - 1) / blocks); }
};

/// Goes through a program as forward does, and finds which storages its tensors have: an activation that several layers save
/// is one, and so is a block's output with the next one's input, be it of the next slice of a row or of the next round.
class forward_pass {
 public:
  constexpr forward_pass(fact::program const& p, setup const& s) : tensors(p.events.size()), program_(p), setup_(s) {
    for (std::size_t i = 0; i < p.events.size(); ++i) visit(i);
  }

  std::vector<placed_tensor> tensors;  ///< one for each event
  redco::work work;

 private:
  using kind = placed_tensor::kind;

  struct open_repeat {
    fact::block_slice blocks;
    int input = -1, from = -1;
    std::int64_t inputs_saved = 0;    ///< so many of its blocks' inputs a layer before them saves
    bool entry_saved = false;         ///< that of the row's first block is one
    placed_tensor* inputs = nullptr;  ///< the saved inputs of the row's first slice
  };

  constexpr std::int64_t copies() const {
    std::int64_t product = 1;
    for (open_repeat const& one : open_) product *= one.blocks.count();
    return product;
  }

  constexpr bool is_saved(int id) const {
    return static_cast<std::size_t>(id) < saved_.size() && saved_[static_cast<std::size_t>(id)] != 0;
  }
  constexpr void mark(int id) {
    auto const at = static_cast<std::size_t>(id);
    while (saved_.size() <= at) saved_.push_back(0);
    saved_[at] = 1;
  }

  constexpr void place(std::size_t i, kind what, std::int64_t times) {
    fact::event const& e = program_.events[i];
    tensors[i] = {what, local_bytes(e.tensor, e.width, setup_.mesh.tp, setup_.compute), times,
                  open_.empty() ? 0 : open_[0].blocks.count()};
  }

  constexpr void visit(std::size_t i) {
    using fact::event_kind;
    fact::event const& e = program_.events[i];
    if (e.more_than > 0 && setup_.mesh.tp <= e.more_than) return;
    switch (e.what) {
      case event_kind::keep: keep(i); break;
      case event_kind::batch: place(i, kind::batch, copies()); break;
      case event_kind::loss: place(i, kind::loss, copies()); break;
      case event_kind::loss_workspace:
      case event_kind::loss_sum: place(i, kind::loss_workspace, copies()); break;
      case event_kind::hold:
      case event_kind::weight_gradient:
      case event_kind::branch:
      case event_kind::branch_end: place(i, kind::none, 1); break;
      case event_kind::repeat: enter(i); break;
      case event_kind::repeat_end: leave(i); break;
      case event_kind::multiply: work.add(saturating_multiply(e.count, copies()), !open_.empty()); break;
      default: break;
    }
  }

  constexpr void keep(std::size_t i) {
    int const id = program_.events[i].tensor.id;
    if (id < 0) return place(i, kind::own, copies());
    if (is_saved(id)) return;
    mark(id);
    if (id == 0) return place(i, kind::batch, 1);
    if (open_.empty() || id != open_.back().input) return place(i, kind::own, copies());
    open_repeat& in = open_.back();
    std::int64_t const times = copies() / in.blocks.count() * (in.blocks.count() - in.inputs_saved);
    if (times == 0) return;
    place(i, open_.size() == 1 ? kind::saved_input : kind::own, times);
    if (in.blocks.first == 0) in.inputs = &tensors[i];
  }

  constexpr void enter(std::size_t i) {
    fact::event const& e = program_.events[i];
    bool const saved = is_saved(e.from);
    if (e.blocks.first == 0) open_.push_back({e.blocks, e.tensor.id, e.from, saved ? 1 : 0, saved});
    else
      open_.push_back({e.blocks, e.tensor.id, e.from, saved ? e.blocks.count() : 0, left_.entry_saved, left_.inputs});
    if (open_.size() == 1) place(i, kind::block_input, e.blocks.count());
  }

  constexpr void leave(std::size_t i) {
    open_repeat const last = open_.back();
    int const output = program_.events[i].tensor.id;
    bool const output_saved = output != last.input && is_saved(output);
    if (last.blocks.is_last_slice() && output_saved && last.inputs != nullptr) {
      // They are outputs of the round before; only the first one's counts by itself.
      last.inputs->copies = last.entry_saved ? 0 : copies() / last.blocks.count();
      if (open_.size() == 1) last.inputs->what = kind::first_input;
    }
    if (open_.size() == 1) place(i, kind::block_output, output_saved ? 0 : 1);
    open_.pop_back();
    left_ = last;
    if (last.blocks.first == 0 && is_saved(last.input)) mark(last.from);
  }

  fact::program const& program_;
  setup const& setup_;
  std::vector<open_repeat> open_;
  open_repeat left_;         ///< the one left last: in front of each slice but the first, the slice before it
  std::vector<char> saved_;  ///< by identity of the activation
};

}  // namespace redco::detail
