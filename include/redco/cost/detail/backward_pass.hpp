#pragma once

#include <redco/cost/backward_moment.hpp>
#include <redco/cost/detail/forward_pass.hpp>
#include <redco/cost/detail/last_blocks.hpp>
#include <redco/cost/setup.hpp>

#include <redco/fact/event.hpp>
#include <redco/fact/program.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace redco::detail {

/// Goes through a program from last to first, as backward does, and remembers the moment that holds most. Of equal
/// blocks it visits the last one: the others' activations are all there then.
class backward_pass {
 public:
  /// `saved`: bytes that forward saves.
  constexpr backward_pass(fact::program const& p, std::vector<placed_tensor> const& tensors, setup const& s,
                          std::int64_t saved)
      : events_(p.events), tensors_(tensors), setup_(s) {
    now_.activations = saved;
    std::vector<std::size_t> const order = last_blocks(events_);
    for (std::size_t i = order.size(); i-- > 0;) visit(order[i]);
    if (largest_layer_ >= 0) largest_.layer = p.layers[static_cast<std::size_t>(largest_layer_)];
  }

  constexpr backward_moment const& largest() const { return largest_; }

 private:
  using kind = placed_tensor::kind;

  constexpr bool runs_again(placed_tensor const& t) const { return setup_.recompute && t.in_block(); }

  constexpr void visit(std::size_t i) {
    using fact::event_kind;
    fact::event const& e = events_[i];
    placed_tensor const& t = tensors_[i];
    if (e.more_than > 0 && setup_.mesh.tp <= e.more_than) return;
    switch (e.what) {
      case event_kind::keep: free(t); break;
      case event_kind::weight_gradient:
        if (runs_again(t)) waiting_weights_ += t.bytes;
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
      case event_kind::repeat_end:
        if (t.what == kind::block_output && setup_.recompute) enter_block(i);
        break;
      case event_kind::repeat:
        if (t.what == kind::block_input) leave_block(t, e.blocks);
        break;
      default: break;
    }
  }

  constexpr void look(int layer, std::int64_t gradients) {
    now_.gradients = gradients;
    if (now_.bytes() <= largest_.bytes()) return;
    largest_ = now_;
    largest_layer_ = layer;
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
    bool const again = runs_again(t);
    if (t.what == kind::first_input) {
      if (!again) other_blocks_ += t.all();
    } else if (t.what == kind::own && again) {
      now_.recomputed -= t.of_block();
    } else if (t.is_saved() && !again) {
      now_.activations -= t.in_block() ? t.of_block() : t.all();
      if (t.in_block()) other_blocks_ += t.all() - t.of_block();
    }
  }

  /// The block is run again: what it saves and its output are there until it is left, and the gradient of that output.
  constexpr void enter_block(std::size_t last) {
    block_gradient_ = tensors_[last].bytes;
    now_.recomputed = tensors_[last].all();
    outside_ = carried_ + arriving_;
    for (std::size_t i = last; i-- > 0 && tensors_[i].what != kind::block_input;)
      if (tensors_[i].what == kind::own) now_.recomputed += tensors_[i].of_block();
    // Its end, on several shards: what is summed over them is there beside the sum.
    look(events_[last].layer, carried_ + block_gradient_ * (setup_.mesh.tp > 1 ? 2 : 1));
  }

  constexpr void leave_block(placed_tensor const& input, fact::block_slice const& blocks) {
    if (setup_.recompute) {
      now_.activations -= input.bytes;
      other_blocks_ += input.all() - input.bytes;
      carried_ = outside_;
      now_.recomputed = weights_ = block_gradient_ = 0;
    }
    if (blocks.has(blocks.last_round())) now_.activations -= std::exchange(other_blocks_, 0);
  }

  std::vector<fact::event> const& events_;
  std::vector<placed_tensor> const& tensors_;
  setup const& setup_;
  backward_moment now_, largest_;                   ///< without their layers, which are long
  int largest_layer_ = -1;                          ///< in the program's list
  std::int64_t held_ = 0;                           ///< gradients of this moment
  std::int64_t carried_ = 0;                        ///< gradients that wait beside a branch
  std::int64_t arriving_ = 0;                       ///< will wait beside the next moment's
  std::int64_t weights_ = 0, waiting_weights_ = 0;  ///< of a recomputed block: given to the parameters at its end
  std::int64_t block_gradient_ = 0;                 ///< of a recomputed block's output, before its first moment
  bool kept_to_block_end_ = false;                  ///< the open branch carries that gradient
  std::int64_t outside_ = 0;                        ///< gradients that wait beside a recomputed block
  std::int64_t other_blocks_ = 0;                   ///< activations of the blocks before the visited ones
};

}  // namespace redco::detail
