#pragma once

#include <redco/cost/detail/block_row.hpp>
#include <redco/cost/detail/forward_pass.hpp>
#include <redco/cost/detail/gathered_blocks.hpp>
#include <redco/cost/memory.hpp>
#include <redco/cost/setup.hpp>
#include <redco/fact/event.hpp>
#include <redco/fact/program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace redco::cost::detail {

/// Returns the indices of a program's events in the order of forward in the last blocks of each
/// type, inside an outermost block. Usually this is the program's order. An exception is a nested
/// stack of alternating block types that ends with an incomplete cycle. There, the last blocks of
/// the first types come after the last blocks of the other types.
constexpr std::vector<std::size_t> inner_order(std::vector<fact::event> const& events) {
  struct open_row {
    std::size_t begin, earliest;
  };
  std::vector<std::size_t> order;
  std::vector<open_row> rows;
  int depth = 0;
  order.reserve(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    order.push_back(i);
    fact::block_slice const& blocks = events[i].blocks;
    bool const begins = events[i].kind == fact::event_kind::repeat;
    if (begins) ++depth;
    bool const outermost = depth <= 1;
    if (events[i].kind == fact::event_kind::repeat_end) --depth;
    if (blocks.step == 1 || outermost) continue;
    if (begins) {
      if (blocks.first == 0) rows.push_back({i, i});
      if (blocks.has(blocks.last_round())) rows.back().earliest = i;
    } else if (blocks.is_last_slice()) {
      auto const at = [&](std::size_t index) { return order.begin() + static_cast<std::ptrdiff_t>(index); };
      std::rotate(at(rows.back().begin), at(rows.back().earliest), at(i + 1));
      rows.pop_back();
    }
  }
  return order;
}

/// A traversal of a program's events in the order of backward, which lists the moments of backward
/// with their bytes. In a stack of repeated blocks, it visits only the blocks in which memory can
/// peak, as block_row::last_blocks() returns them.
class backward_pass {
 public:
  /// Traverses the program `p`. `saved` is the number of bytes that forward saves in total.
  /// `gathered`: bytes of the values in memory.
  constexpr backward_pass(fact::program const& p, std::vector<placed_tensor> const& tensors,
                          std::vector<block_row> const& rows, setup const& s, std::int64_t saved,
                          gathered_blocks const& gathered)
      : events_(p.events), tensors_(tensors), setup_(s), gathered_(gathered) {
    now_.when = moment::phase::backward;
    now_.activations = saved;
    now_.gathered = gathered_.values(gathered_.last());
    waiting_for_sum_ = gathered_.gradients_at(gathered_.last() + 1);
    order_ = inner_order(events_);
    std::size_t row = rows.size();
    for (std::size_t i = events_.size(); i-- > 0;)
      if (row > 0 && i == rows[row - 1].kinds.back().end) i = visit_row(rows[--row]);
      else visit(order_[i]);
  }

  /// Moments of backward in order of time. A stack of repeated blocks has moments only for the last
  /// blocks of each type.
  std::vector<moment> list;

 private:
  using kind = placed_tensor::kind;

  /// Visits the blocks of a stack in which memory can peak. Returns the index of the stack's first
  /// event.
  constexpr std::size_t visit_row(block_row const& row) {
    std::int64_t const outside = now_.activations - row.saved_in(row.blocks());
    for (std::int64_t const block : row.last_blocks()) {
      block_row::kind const& one = row.kinds[row.kind_of(block)];
      now_.activations = outside + row.saved_in(block + 1);
      now_.block = row.base() + block;
      now_.gathered = gathered_.values_in_backward(row.before + block);
      own_input_ = row.has_own_input(block);
      again_ = row.again.has(block);
      waiting_for_sum_ = gathered_.gradients_in(row.before + block, false);
      waiting_with_own_ = gathered_.gradients_in(row.before + block, true);
      if (again_) enter_block(one);
      for (std::size_t i = one.end; --i > one.begin;) visit(order_[i]);
      if (again_) leave_block(one);
      else end_gradients(events_[one.begin].layer);
    }
    again_ = false;
    waiting_with_own_ = 0;
    now_.block = -1;
    now_.gathered = gathered_.values_in_backward(row.before);
    waiting_for_sum_ = gathered_.gradients_at(row.before);
    now_.activations = outside;
    return row.kinds[0].begin;
  }

  constexpr void visit(std::size_t i) {
    using fact::event_kind;
    fact::event const& e = events_[i];
    placed_tensor const& t = tensors_[i];
    if (e.min_shards_exclusive > 0 && setup_.mesh.tp <= e.min_shards_exclusive) return;
    switch (e.kind) {
      case fact::event_kind::save:
        if (!again_ || e.tensor.id != output_again_) free(t);
        break;
      case fact::event_kind::weight_gradient:
        if (again_) waiting_weights_ += t.bytes;
        else if (waiting_with_own_ > 0) ending_ += t.bytes;
        held_ += t.bytes;
        break;
      case fact::event_kind::hold: held_ += t.bytes; break;
      case fact::event_kind::moment: end_moment(e.layer); break;
      case fact::event_kind::branch_end:
        arriving_ += t.bytes;
        // The block's gradient equals the gradient of its last branch
        kept_to_block_end_ = block_gradient_ > 0;
        block_gradient_ = 0;
        break;
      case fact::event_kind::branch: leave_branch(t.bytes); break;
      default: break;
    }
  }

  constexpr void look(int layer, std::int64_t gradients) {
    now_.layer = layer;
    now_.gradients = gradients + waiting_for_sum_;
    list.push_back(now_);
  }

  /// Adds the current moment of backward to the list, after all gradients at this moment were
  /// counted. `layer` is the layer's index.
  constexpr void end_moment(int layer) {
    end_gradients(layer);
    look(layer, carried_ + weights_ + held_);
    ended_ = std::exchange(ending_, 0);
    // The output gradient of this moment is held from now on
    carried_ += arriving_ + block_gradient_;
    weights_ += waiting_weights_;
    arriving_ = block_gradient_ = waiting_weights_ = held_ = 0;
  }

  constexpr void leave_branch(std::int64_t gradient) {
    if (std::exchange(kept_to_block_end_, false)) return;
    (arriving_ > 0 ? arriving_ : carried_) -= gradient;
  }

  constexpr void free(placed_tensor const& t) {
    if (!t.in_block()) now_.activations -= t.saved_bytes();
    else if (t.lifetime == kind::own) (again_ ? now_.recomputed : now_.activations) -= t.of_block();
    else if (t.lifetime == kind::saved_input && !again_ && own_input_) now_.activations -= t.bytes;
  }

  /// Starts the backward of a recomputed block. The tensors that the block saves when it runs
  /// again, and its output and output gradient, are held until the end of the block.
  constexpr void enter_block(block_row::kind const& block) {
    block_gradient_ = tensors_[block.end].bytes;
    output_again_ = events_[block.end].tensor.id;
    now_.recomputed = block.bytes + tensors_[block.end].all();
    outside_ = carried_ + arriving_;
    // At the block's end on several shards, the summed gradient and its addend exist at once.
    look(events_[block.end].layer, carried_ + block_gradient_ * (setup_.mesh.tp > 1 ? 2 : 1));
  }

  /// If replicas sum gradients in backward, the weight gradients of the preceding moment move to
  /// buckets, after the layer has freed its saved tensors. From then on, buckets of the block wait.
  constexpr void end_gradients(int layer) {
    if (ended_ == 0) return;
    waiting_for_sum_ = waiting_with_own_;
    look(layer, carried_ + std::exchange(ended_, 0));
  }

  /// Ends the backward of a recomputed block. If replicas sum gradients in backward, all weight
  /// gradients of the block move to buckets now.
  constexpr void leave_block(block_row::kind const& block) {
    now_.recomputed = 0;
    waiting_for_sum_ = waiting_with_own_;
    if (waiting_with_own_ > 0) look(events_[block.begin].layer, outside_ + tensors_[block.end].bytes + weights_);
    carried_ = outside_;
    weights_ = block_gradient_ = 0;
  }

  std::vector<fact::event> const& events_;
  std::vector<placed_tensor> const& tensors_;
  setup const& setup_;
  gathered_blocks const& gathered_;
  moment now_;
  /// Bytes of parameters' gradients that wait for their sum over the replicas at this moment, if
  /// the replicas keep shares of the values
  std::int64_t waiting_for_sum_ = 0;
  /// `waiting_for_sum_` from the first complete gradient of the visited block on; 0 outside blocks
  std::int64_t waiting_with_own_ = 0;
  /// Bytes of the weight gradients of the current moment, and of the preceding moment
  std::int64_t ending_ = 0, ended_ = 0;
  /// Indices of the program's events, in the order in which the blocks run
  std::vector<std::size_t> order_;
  bool again_ = false;  ///< True while the visited block is recomputed
  /// True if the visited block saves its input, and the preceding layer or block does not
  bool own_input_ = false;
  /// Activation number of the recomputed block's output. It is held until the end of the block,
  /// even if no layer saves it.
  int output_again_ = -1;
  std::int64_t held_ = 0;  ///< Bytes of gradients that are held only at the current moment
  /// Bytes of gradients from outside a branch, such as a residual branch, that are held during the
  /// branch's backward
  std::int64_t carried_ = 0;
  std::int64_t arriving_ = 0;  ///< Bytes of gradients that are held from the next moment on
  /// Bytes of the weight gradients of a recomputed block, which are added to the gradient buffers
  /// at the end of the block. `waiting_weights_` are those of the current moment.
  std::int64_t weights_ = 0, waiting_weights_ = 0;
  /// Bytes of the gradient of a recomputed block's output, counted until the block's first moment.
  std::int64_t block_gradient_ = 0;
  /// True if the gradient held during the visited branch is the gradient of the recomputed block's
  /// output.
  bool kept_to_block_end_ = false;
  /// Bytes of gradients from outside a recomputed block that are held while the block's backward
  /// runs.
  std::int64_t outside_ = 0;
};

}  // namespace redco::cost::detail
