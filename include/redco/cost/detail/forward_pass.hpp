#pragma once

#include <redco/cost/detail/block_row.hpp>
#include <redco/cost/detail/gradient_flow.hpp>
#include <redco/cost/local_extents.hpp>
#include <redco/cost/setup.hpp>

#include <redco/fact/event.hpp>
#include <redco/fact/program.hpp>
#include <redco/fact/work.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::cost::detail {

/// A tensor of one event of a model's program, as one rank holds it: its bytes, its lifetime
/// (`lifetime`) and the number of its copies in repeated blocks.
struct placed_tensor {
  enum class kind : std::uint8_t {
    /// Lifetime of a tensor that does not exist on this mesh, or shares the storage of another one
    none,
    own,  ///< Lifetime of a saved tensor: from forward until the backward of its layer
    /// Lifetime of a saved tensor that is also the input of a block of an outermost repeat
    saved_input,
    /// Lifetime of the input of a block of an outermost repeat, which is held if the block is
    /// recomputed.
    block_input,
    /// Lifetime of the output of a recomputed block of an outermost repeat. It is an extra tensor
    /// if no layer in the block saves it.
    block_output,
    batch,  ///< Lifetime of a tensor that belongs to the batch and needs no extra memory
    loss,   ///< Lifetime of a tensor of the loss: from the loss until its backward
    loss_workspace,
  };

  kind lifetime = kind::none;
  std::int64_t bytes = 0;  ///< Bytes of one copy of the tensor on this rank
  /// Number of copies that have their own storage, over all repeated blocks, as if no block were
  /// recomputed; 1 outside repeats. For `block_output`: 1, or 0 if a layer saves the output.
  std::int64_t copies = 0;
  std::int64_t saved = 0;  ///< Number of copies of the tensor that forward saves for backward
  /// Number of equal blocks in the outermost repeat that contains the tensor; 0: outside repeats
  std::int64_t blocks = 0;
  std::int64_t again = 0;  ///< Number of these equal blocks that backward recomputes

  constexpr bool in_block() const { return blocks > 0; }
  constexpr bool is_saved() const { return lifetime == kind::own || lifetime == kind::saved_input; }
  constexpr std::int64_t all() const { return bytes * copies; }
  constexpr std::int64_t saved_bytes() const { return bytes * saved; }
  /// Returns the bytes of the tensor's copies in one block of the outermost repeat. Requires that
  /// the tensor is inside a block.
  constexpr std::int64_t of_block() const { return bytes * (copies / blocks); }
  /// Returns the number of copies of the tensor that backward makes again by recomputation.
  constexpr std::int64_t copies_again() const {
    return in_block() ? copies / blocks * again + copies % blocks * again / blocks : 0;
  }
};

/// A traversal of a program's events in the order of forward, which finds the storage of each
/// tensor. An activation saved by several layers is stored once. The output of a block shares
/// storage with the input of the next block, even if block types alternate.
class forward_pass {
 public:
  constexpr forward_pass(fact::program const& p, setup const& s)
      : tensors(p.events.size()), program_(p), setup_(s), gradients_(p) {
    // Clang 14 cannot fill a vector of numbers in a constant expression
    while (sent.size() < p.messages.size()) sent.push_back(0);
    for (std::size_t i = 0; i < p.events.size(); ++i) visit(i);
  }

  std::vector<placed_tensor> tensors;  ///< Tensors of the program's events, one for each event
  /// Outermost stacks of repeated blocks, in the order of forward
  std::vector<block_row> rows;
  /// Number of times that each message of the program is sent per micro-batch, including
  /// recomputation
  std::vector<std::int64_t> sent;
  fact::work work;

 private:
  using kind = placed_tensor::kind;

  /// A set of activations, identified by their numbers (flow::id).
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
    /// Number of blocks of this repeat whose input the preceding layer or block already saves.
    std::int64_t inputs_saved = 0;
    /// True if a layer before the stack saves the stack's input (the input of its first block)
    bool entry_saved = false;
    /// Saved inputs of the blocks of the stack's first block type; null if they are not saved
    placed_tensor* inputs = nullptr;
  };

  constexpr std::int64_t copies() const {
    std::int64_t product = 1;
    for (open_repeat const& one : open_) product *= one.blocks.count();
    return product;
  }

  /// Returns the number of a tensor's copies in recomputed blocks of the current outermost repeat.
  /// `of`: number of the tensor's copies in all blocks.
  constexpr std::int64_t again(std::int64_t of) const {
    return open_.empty() ? 0 : of / open_[0].blocks.count() * count_again(open_[0].blocks, setup_.recompute);
  }

  constexpr void record(std::size_t i, kind lifetime, std::int64_t times) {
    fact::event const& e = program_.events[i];
    placed_tensor& t = tensors[i] = {lifetime, local_bytes(e.tensor, e.width, setup_.mesh.tp, setup_.compute), times};
    if (open_.empty()) return;
    t.blocks = open_[0].blocks.count();
    t.again = count_again(open_[0].blocks, setup_.recompute);
  }

  constexpr void visit(std::size_t i) {
    using fact::event_kind;
    fact::event const& e = program_.events[i];
    if (e.min_shards_exclusive > 0 && setup_.mesh.tp <= e.min_shards_exclusive) return;
    switch (e.kind) {
      case fact::event_kind::save: save(i); break;
      case fact::event_kind::batch: record(i, kind::batch, copies()); break;
      case fact::event_kind::loss: record(i, kind::loss, copies()); break;
      case fact::event_kind::loss_workspace:
      case fact::event_kind::loss_sum: record(i, kind::loss_workspace, copies()); break;
      case fact::event_kind::make: products_ = 0; break;
      case fact::event_kind::weight_gradient: end_products(e.tensor.split_dim); [[fallthrough]];
      case fact::event_kind::hold:
      case fact::event_kind::branch:
      case fact::event_kind::branch_end: record(i, kind::none, 1); break;
      case fact::event_kind::repeat: enter(i); break;
      case fact::event_kind::repeat_end: leave(i); break;
      case fact::event_kind::message: send(static_cast<std::size_t>(e.count)); break;
      case fact::event_kind::multiply:
        work.add(shape::saturating_multiply(e.count, copies()), shape::saturating_multiply(e.count, again(copies())));
        products_ = shape::saturating_add(products_, shape::saturating_multiply(e.count, copies()));
        break;
      default: break;
    }
  }

  /// Adds the operations since the latest `make` event to the operations of column-parallel weights
  /// (`split_dim` 0) or of row-parallel weights (`split_dim` 1). Called at the event of the
  /// weight's gradient, which is cut like the weight.
  constexpr void end_products(int split_dim) {
    if (split_dim == 0) work.columns = shape::saturating_add(work.columns, products_);
    if (split_dim == 1) work.rows = shape::saturating_add(work.rows, products_);
    products_ = 0;
  }

  constexpr void send(std::size_t message) {
    fact::message_fact const& fact = program_.messages[message];
    bool const is_repeated = !fact.backward && !fact.when_recorded && gradients_.runs_again(message);
    sent[message] = gradients_.sent(message) + (is_repeated ? again(fact.copies) : 0);
  }

  constexpr void save(std::size_t i) {
    int const id = program_.events[i].tensor.id;
    bool const known = id >= 0 && saved_.has(id), kept = id >= 0 && kept_.has(id);
    if (known && kept) return;
    saved_.put(id, true);
    kept_.put(id, true);
    if (id == 0) return record(i, kind::batch, 1);
    if (open_.empty() || id != open_.back().input) {
      record(i, kind::own, known ? 0 : copies());
      if (open_.empty()) tensors[i].saved = kept ? 0 : 1;
      return;
    }
    open_repeat& in = open_.back();
    std::int64_t const times = copies() / in.blocks.count() * (in.blocks.count() - in.inputs_saved);
    bool const outermost = open_.size() == 1;
    if (outermost) rows.back().kinds.back().saves_input = true;
    if (times == 0 && !outermost) return;
    record(i, outermost ? kind::saved_input : kind::own, times);
    if (in.blocks.first == 0) in.inputs = &tensors[i];
  }

  constexpr void enter(std::size_t i) {
    fact::event const& e = program_.events[i];
    bool const saved = saved_.has(e.from), first = e.blocks.first == 0;
    if (first) open_.push_back({e.blocks, e.tensor.id, e.from, saved ? 1 : 0, saved});
    else
      open_.push_back({e.blocks, e.tensor.id, e.from, saved ? e.blocks.count() : 0, left_.entry_saved, left_.inputs});
    if (open_.size() > 1) return;
    record(i, kind::block_input, e.blocks.count());
    if (first) {
      std::int64_t const before = rows.empty() ? 0 : rows.back().before + rows.back().blocks();
      rows.push_back({{}, setup_.recompute.from(e.blocks.base), kept_.has(e.from), tensors[i].bytes, before});
    }
    rows.back().kinds.push_back({i, i, e.blocks});
  }

  constexpr void leave(std::size_t i) {
    open_repeat const last = open_.back();
    int const output = program_.events[i].tensor.id;
    bool const output_saved = output != last.input && saved_.has(output);
    if (last.blocks.is_last_slice() && output_saved && last.inputs != nullptr)
      // The block inputs are outputs of the preceding round (one block of every slice), so only the
      // first block's input is separate storage.
      last.inputs->copies = last.entry_saved ? 0 : copies() / last.blocks.count();
    bool const outermost = open_.size() == 1;
    if (outermost) {
      record(i, kind::block_output, output_saved ? 0 : 1);
      rows.back().kinds.back().end = i;
      rows.back().kinds.back().saves_output = output_saved;
    }
    open_.pop_back();
    left_ = last;
    if (last.blocks.first == 0 && saved_.has(last.input)) saved_.put(last.from, true);
    if (outermost && last.blocks.is_last_slice()) end_row(rows.back());
  }

  /// Computes the saved bytes of a finished stack of repeated blocks, and whether the stack's input
  /// and output are saved.
  constexpr void end_row(block_row& row) {
    auto const counts = row.count(row.blocks());
    for (std::size_t k = 0; k < row.kinds.size(); ++k) {
      block_row::kind& one = row.kinds[k];
      for (std::size_t i = one.begin; i < one.end; ++i) {
        placed_tensor& t = tensors[i];
        if (t.lifetime == kind::own) {
          one.bytes += t.of_block();
          t.saved = t.copies / t.blocks * counts[k].once;
        }
        if (t.lifetime == kind::saved_input) t.saved = counts[k].inputs_once;
        if (t.lifetime == kind::block_input) t.saved = counts[k].inputs_again;
      }
    }
    if (row.again.has(0) || row.kinds[0].saves_input) kept_.put(program_.events[row.kinds[0].begin].from, true);
    block_row::kind const& last = row.kinds[row.kind_of(row.blocks() - 1)];
    kept_.put(program_.events[last.end].tensor.id, last.saves_output && !row.again.has(row.blocks() - 1));
  }

  fact::program const& program_;
  setup const& setup_;
  gradient_flow gradients_;
  std::vector<open_repeat> open_;
  /// Repeat that ended last. If block types alternate, this is the repeat event of the preceding
  /// block type.
  open_repeat left_;
  activations_set saved_;      ///< Activations that forward would save if no block were recomputed
  activations_set kept_;       ///< Activations that forward really saves
  std::int64_t products_ = 0;  ///< Floating-point operations since the latest `make` event
};

}  // namespace redco::cost::detail
