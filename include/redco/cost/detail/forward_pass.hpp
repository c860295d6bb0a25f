#pragma once

#include <redco/cost/detail/block_row.hpp>
#include <redco/cost/local_extents.hpp>
#include <redco/cost/setup.hpp>

#include <redco/fact/event.hpp>
#include <redco/fact/program.hpp>
#include <redco/fact/work.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::cost::detail {

/// A tensor that one event of a program states, on one rank.
struct placed_tensor {
  enum class kind : std::uint8_t {
    none,          ///< not there on this mesh, or there already
    own,           ///< lives from forward to its layer's backward
    saved_input,   ///< the same; it is the input of each outermost block
    block_input,   ///< from which an outermost block is run again
    block_output,  ///< what that gives; a copy where nothing in the block saves it
    batch,         ///< the batch's own
    loss,          ///< from the loss to its backward
    loss_workspace,
  };

  kind what = kind::none;
  std::int64_t bytes = 0;   ///< of one copy
  std::int64_t copies = 0;  ///< in the whole model, were no block run again
  std::int64_t saved = 0;   ///< copies that forward saves for backward
  std::int64_t blocks = 0;  ///< so many equal ones of the outermost repeat around it; 0: none is
  std::int64_t again = 0;   ///< of those run again

  constexpr bool in_block() const { return blocks > 0; }
  constexpr bool is_saved() const { return what == kind::own || what == kind::saved_input; }
  constexpr std::int64_t all() const { return bytes * copies; }
  constexpr std::int64_t saved_bytes() const { return bytes * saved; }
  /// In one outermost block. Requires one of its own.
  constexpr std::int64_t of_block() const { return bytes * (copies / blocks); }
  /// How many copies are made again.
  constexpr std::int64_t copies_again() const {
    return in_block() ? copies / blocks * again + copies % blocks * again / blocks : 0;
  }
};

/// Goes through a program as forward does, and finds which storages its tensors have: an activation that several layers save
/// is one, and so is a block's output with the next one's input, be it of the next slice of a row or of the next round.
class forward_pass {
 public:
  constexpr forward_pass(fact::program const& p, setup const& s) : tensors(p.events.size()), program_(p), setup_(s) {
    while (sent.size() < p.messages.size()) sent.push_back(0);  // clang 14 fills no vector of numbers in a constant
    for (std::size_t i = 0; i < p.events.size(); ++i) visit(i);
  }

  std::vector<placed_tensor> tensors;  ///< one for each event
  std::vector<block_row> rows;         ///< the outermost repeats
  std::vector<std::int64_t> sent;      ///< how often each of the program's messages is sent for one micro-batch
  redco::fact::work work;

 private:
  using kind = placed_tensor::kind;

  /// Some activations, by identity.
  class activations_set {
   public:
    constexpr bool has(int id) const {
      return static_cast<std::size_t>(id) < in_.size() && in_[static_cast<std::size_t>(id)] != 0;
    }
    constexpr void put(int id, bool in) {
      if (id < 0) return;
      auto const at = static_cast<std::size_t>(id);
      while (in_.size() <= at) in_.push_back(0);
      in_[at] = in;
    }

   private:
    std::vector<char> in_;
  };

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

  /// Of so many copies of all outermost blocks, those of blocks that run again.
  constexpr std::int64_t again(std::int64_t of) const {
    return open_.empty() ? 0 : of / open_[0].blocks.count() * count_again(open_[0].blocks, setup_.recompute);
  }

  constexpr void place(std::size_t i, kind what, std::int64_t times) {
    fact::event const& e = program_.events[i];
    placed_tensor& t = tensors[i] = {what, local_bytes(e.tensor, e.width, setup_.mesh.tp, setup_.compute), times};
    if (open_.empty()) return;
    t.blocks = open_[0].blocks.count();
    t.again = count_again(open_[0].blocks, setup_.recompute);
  }

  constexpr void visit(std::size_t i) {
    using fact::event_kind;
    fact::event const& e = program_.events[i];
    if (e.more_than > 0 && setup_.mesh.tp <= e.more_than) return;
    switch (e.what) {
      case event_kind::save: save(i); break;
      case event_kind::batch: place(i, kind::batch, copies()); break;
      case event_kind::loss: place(i, kind::loss, copies()); break;
      case event_kind::loss_workspace:
      case event_kind::loss_sum: place(i, kind::loss_workspace, copies()); break;
      case event_kind::make: products_ = 0; break;
      case event_kind::weight_gradient: end_products(e.tensor.split_dim); [[fallthrough]];
      case event_kind::hold:
      case event_kind::branch:
      case event_kind::branch_end: place(i, kind::none, 1); break;
      case event_kind::repeat: enter(i); break;
      case event_kind::repeat_end: leave(i); break;
      case event_kind::message: send(static_cast<std::size_t>(e.count)); break;
      case event_kind::multiply:
        work.add(saturating_multiply(e.count, copies()), saturating_multiply(e.count, again(copies())));
        products_ = saturating_add(products_, saturating_multiply(e.count, copies()));
        break;
      default: break;
    }
  }

  /// The products of an activation, behind which the gradient of a weight is stated that is cut along `split_dim`, use it.
  constexpr void end_products(int split_dim) {
    if (split_dim == 0) work.columns = saturating_add(work.columns, products_);
    if (split_dim == 1) work.rows = saturating_add(work.rows, products_);
    products_ = 0;
  }

  constexpr void send(std::size_t message) {
    fact::message_fact const& fact = program_.messages[message];
    sent[message] = fact.copies + (fact.backward ? 0 : again(fact.copies));
  }

  constexpr void save(std::size_t i) {
    int const id = program_.events[i].tensor.id;
    bool const known = id >= 0 && saved_.has(id), kept = id >= 0 && kept_.has(id);
    if (known && kept) return;
    saved_.put(id, true);
    kept_.put(id, true);
    if (id == 0) return place(i, kind::batch, 1);
    if (open_.empty() || id != open_.back().input) {
      place(i, kind::own, known ? 0 : copies());
      if (open_.empty()) tensors[i].saved = kept ? 0 : 1;
      return;
    }
    open_repeat& in = open_.back();
    std::int64_t const times = copies() / in.blocks.count() * (in.blocks.count() - in.inputs_saved);
    bool const outermost = open_.size() == 1;
    if (outermost) rows.back().kinds.back().saves_input = true;
    if (times == 0 && !outermost) return;
    place(i, outermost ? kind::saved_input : kind::own, times);
    if (in.blocks.first == 0) in.inputs = &tensors[i];
  }

  constexpr void enter(std::size_t i) {
    fact::event const& e = program_.events[i];
    bool const saved = saved_.has(e.from), first = e.blocks.first == 0;
    if (first) open_.push_back({e.blocks, e.tensor.id, e.from, saved ? 1 : 0, saved});
    else
      open_.push_back({e.blocks, e.tensor.id, e.from, saved ? e.blocks.count() : 0, left_.entry_saved, left_.inputs});
    if (open_.size() > 1) return;
    place(i, kind::block_input, e.blocks.count());
    if (first) rows.push_back({{}, setup_.recompute.from(e.blocks.base), kept_.has(e.from), tensors[i].bytes});
    rows.back().kinds.push_back({i, i, e.blocks});
  }

  constexpr void leave(std::size_t i) {
    open_repeat const last = open_.back();
    int const output = program_.events[i].tensor.id;
    bool const output_saved = output != last.input && saved_.has(output);
    if (last.blocks.is_last_slice() && output_saved && last.inputs != nullptr)
      // They are outputs of the round before; only the first one's counts by itself.
      last.inputs->copies = last.entry_saved ? 0 : copies() / last.blocks.count();
    bool const outermost = open_.size() == 1;
    if (outermost) {
      place(i, kind::block_output, output_saved ? 0 : 1);
      rows.back().kinds.back().end = i;
      rows.back().kinds.back().saves_output = output_saved;
    }
    open_.pop_back();
    left_ = last;
    if (last.blocks.first == 0 && saved_.has(last.input)) saved_.put(last.from, true);
    if (outermost && last.blocks.is_last_slice()) end_row(rows.back());
  }

  /// What the row of blocks has saved, and whether what it was given and gives are among that.
  constexpr void end_row(block_row& row) {
    auto const counts = row.count(row.blocks());
    for (std::size_t k = 0; k < row.kinds.size(); ++k) {
      block_row::kind& one = row.kinds[k];
      for (std::size_t i = one.begin; i < one.end; ++i) {
        placed_tensor& t = tensors[i];
        if (t.what == kind::own) {
          one.bytes += t.of_block();
          t.saved = t.copies / t.blocks * counts[k].once;
        }
        if (t.what == kind::saved_input) t.saved = counts[k].inputs_once;
        if (t.what == kind::block_input) t.saved = counts[k].inputs_again;
      }
    }
    if (row.again.has(0) || row.kinds[0].saves_input) kept_.put(program_.events[row.kinds[0].begin].from, true);
    block_row::kind const& last = row.kinds[row.kind_of(row.blocks() - 1)];
    kept_.put(program_.events[last.end].tensor.id, last.saves_output && !row.again.has(row.blocks() - 1));
  }

  fact::program const& program_;
  setup const& setup_;
  std::vector<open_repeat> open_;
  open_repeat left_;           ///< the one left last: in front of each slice but the first, the slice before it
  activations_set saved_;      ///< were no block run again
  activations_set kept_;       ///< saved
  std::int64_t products_ = 0;  ///< since the last activation was made
};

}  // namespace redco::cost::detail
