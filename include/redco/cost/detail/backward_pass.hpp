#pragma once

#include <redco/cost/detail/block_row.hpp>
#include <redco/cost/detail/forward_pass.hpp>
#include <redco/cost/detail/inner_order.hpp>
#include <redco/cost/moment.hpp>
#include <redco/cost/setup.hpp>

#include <redco/fact/event.hpp>
#include <redco/fact/program.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace redco::cost::detail {

/// Goes through a program from last to first, as backward does, and lists the moments. Of the blocks of an outermost
/// `repeat` that run again it visits the last one, and of the others: the activations of all before it are there.
class backward_pass {
 public:
  /// `saved`: bytes that forward saves.
  constexpr backward_pass(fact::program const& p, std::vector<placed_tensor> const& tensors,
                          std::vector<block_row> const& rows, setup const& s, std::int64_t saved)
      : events_(p.events), tensors_(tensors), setup_(s) {
    now_.when = moment::phase::backward;
    now_.activations = saved;
    order_ = inner_order(events_);
    std::size_t row = rows.size();
    for (std::size_t i = events_.size(); i-- > 0;)
      if (row > 0 && i == rows[row - 1].kinds.back().end) i = visit_row(rows[--row]);
      else visit(order_[i]);
  }

  std::vector<moment> list;  ///< after one another; of a row of blocks those of the last block of each kind

 private:
  using kind = placed_tensor::kind;

  /// Visits the last blocks of a row; the event with which it begins.
  constexpr std::size_t visit_row(block_row const& row) {
    std::int64_t const outside = now_.activations - row.saved_in(row.blocks());
    for (std::int64_t const block : row.last_blocks()) {
      block_row::kind const& one = row.kinds[row.kind_of(block)];
      now_.activations = outside + row.saved_in(block + 1);
      now_.block = row.base() + block;
      own_input_ = row.has_own_input(block);
      again_ = row.again.has(block);
      if (again_) enter_block(one);
      for (std::size_t i = one.end; --i > one.begin;) visit(order_[i]);
      if (again_) leave_block();
    }
    again_ = false;
    now_.block = -1;
    now_.activations = outside;
    return row.kinds[0].begin;
  }

  constexpr void visit(std::size_t i) {
    using fact::event_kind;
    fact::event const& e = events_[i];
    placed_tensor const& t = tensors_[i];
    if (e.more_than > 0 && setup_.mesh.tp <= e.more_than) return;
    switch (e.what) {
      case event_kind::save:
        if (!again_ || e.tensor.id != output_again_) free(t);
        break;
      case event_kind::weight_gradient:
        if (again_) waiting_weights_ += t.bytes;
        held_ += t.bytes;
        break;
      case event_kind::hold: held_ += t.bytes; break;
      case event_kind::moment: end_moment(e.layer); break;
      case event_kind::branch_end:
        arriving_ += t.bytes;
        kept_to_block_end_ = block_gradient_ > 0;  // the block's gradient is that of its last branch
        block_gradient_ = 0;
        break;
      case event_kind::branch: leave_branch(t.bytes); break;
      default: break;
    }
  }

  constexpr void look(int layer, std::int64_t gradients) {
    now_.layer = layer;
    now_.gradients = gradients;
    list.push_back(now_);
  }

  /// All that a moment holds has been seen.
  constexpr void end_moment(int layer) {
    look(layer, carried_ + weights_ + held_);
    carried_ += arriving_ + block_gradient_;  // it was this moment's own output gradient and waits from here on
    weights_ += waiting_weights_;
    arriving_ = block_gradient_ = waiting_weights_ = held_ = 0;
  }

  constexpr void leave_branch(std::int64_t gradient) {
    if (std::exchange(kept_to_block_end_, false)) return;
    (arriving_ > 0 ? arriving_ : carried_) -= gradient;
  }

  constexpr void free(placed_tensor const& t) {
    if (!t.in_block()) now_.activations -= t.saved_bytes();
    else if (t.what == kind::own) (again_ ? now_.recomputed : now_.activations) -= t.of_block();
    else if (t.what == kind::saved_input && !again_ && own_input_) now_.activations -= t.bytes;
  }

  /// The block is run again: what it saves and its output are there until it is left, and the gradient of that output.
  constexpr void enter_block(block_row::kind const& block) {
    block_gradient_ = tensors_[block.end].bytes;
    output_again_ = events_[block.end].tensor.id;
    now_.recomputed = block.bytes + tensors_[block.end].all();
    outside_ = carried_ + arriving_;
    // Its end, on several shards: what is summed over them is there beside the sum.
    look(events_[block.end].layer, carried_ + block_gradient_ * (setup_.mesh.tp > 1 ? 2 : 1));
  }

  constexpr void leave_block() {
    carried_ = outside_;
    now_.recomputed = weights_ = block_gradient_ = 0;
  }

  std::vector<fact::event> const& events_;
  std::vector<placed_tensor> const& tensors_;
  setup const& setup_;
  moment now_;
  std::vector<std::size_t> order_;                  ///< of events
  bool again_ = false;                              ///< the visited block of an outermost repeat runs again
  bool own_input_ = false;                          ///< and its input is saved for it alone
  int output_again_ = -1;                           ///< the output of that block: there until it is left, saved or not
  std::int64_t held_ = 0;                           ///< gradients of this moment
  std::int64_t carried_ = 0;                        ///< gradients that wait beside a branch
  std::int64_t arriving_ = 0;                       ///< will wait beside the next moment's
  std::int64_t weights_ = 0, waiting_weights_ = 0;  ///< of a recomputed block: given to the parameters at its end
  std::int64_t block_gradient_ = 0;                 ///< of a recomputed block's output, before its first moment
  bool kept_to_block_end_ = false;                  ///< the open branch carries that gradient
  std::int64_t outside_ = 0;                        ///< gradients that wait beside a recomputed block
};

}  // namespace redco::cost::detail
