#pragma once

#include <redco/cost/backward_moment.hpp>
#include <redco/cost/local_extents.hpp>
#include <redco/cost/setup.hpp>

#include <redco/fact/activation_fact.hpp>

#include <cstddef>
#include <cstdint>

namespace redco {

namespace detail {

/// Goes through the facts of a model from last to first, as backward does, and remembers the moment that holds most. Of
/// the equal blocks of a `repeat` it visits the last one: the others' activations are all there then.
template <class Saved>
class backward_replay {
 public:
  constexpr backward_replay(Saved const& saved, setup const& s, std::int64_t kept) : saved_(saved), setup_(s) {
    now_.activations = kept;
    for (std::size_t i = saved_.size(); i-- > 0;) visit(i);
    end_moment();
  }

  constexpr backward_moment const& largest() const { return largest_; }

 private:
  using role = saved_role;

  constexpr std::int64_t one(saved_fact const& fact) const { return local_bytes(fact, setup_.mesh.tp, setup_.compute); }
  /// Of one outermost block.
  constexpr std::int64_t of_block(saved_fact const& fact) const {
    return one(fact) * ((fact.copies + fact.blocks - 1) / fact.blocks);
  }
  constexpr bool is_rerun(saved_fact const& fact) const { return setup_.recompute && fact.in_block; }

  constexpr void visit(std::size_t i) {
    saved_fact const& fact = saved_[i];
    if (fact.parts > 0 && setup_.mesh.tp <= fact.parts) return;
    bool const in_moment =
        fact.role == role::workspace || fact.role == role::reduction || fact.role == role::weight_gradient;
    if (!in_moment || fact.moment != moment_) end_moment();
    switch (fact.role) {
      case role::workspace: hold(fact); break;
      case role::reduction:
        if (setup_.mesh.tp > 1) hold(fact);
        break;
      case role::weight_gradient:
        hold(fact);
        if (is_rerun(fact)) waiting_weights_ += one(fact);
        break;
      case role::stored: free(fact); break;
      case role::entry:
        if (!is_rerun(fact)) free(fact);
        break;
      case role::first_entry:
        if (!is_rerun(fact)) other_blocks_ += one(fact) * fact.copies;
        break;
      case role::batch_when_whole:
        if (setup_.mesh.tp > 1) now_.activations -= one(fact) * fact.copies;
        break;
      case role::carried_from:
        arriving_ += one(fact);
        kept_to_block_end_ = block_gradient_ > 0;  // the block's gradient is that of its last branch
        block_gradient_ = 0;
        break;
      case role::carried_until: release(one(fact)); break;
      case role::block_output:
        if (setup_.recompute) enter_block(i);
        break;
      case role::block_input: leave_block(fact); break;
      case role::batch:
      case role::loss:
      case role::loss_workspace:;
      case role::uncounted: break;
    }
  }

  constexpr void hold(saved_fact const& fact) {
    moment_ = fact.moment;
    now_.layer = fact.layer;
    held_ += one(fact);
  }

  constexpr void look(std::int64_t gradients) {
    now_.gradients = gradients;
    if (now_.bytes() > largest_.bytes()) largest_ = now_;
  }

  constexpr void end_moment() {
    if (moment_ == 0) return;
    look(carried_ + weights_ + held_);
    carried_ += arriving_ + block_gradient_;  // it was this moment's own output gradient and waits from here on
    weights_ += waiting_weights_;
    arriving_ = block_gradient_ = waiting_weights_ = held_ = 0;
    moment_ = 0;
  }

  /// A branch has been gone through.
  constexpr void release(std::int64_t bytes) {
    if (kept_to_block_end_) {
      kept_to_block_end_ = false;
    } else {
      (arriving_ > 0 ? arriving_ : carried_) -= bytes;
    }
  }

  constexpr void free(saved_fact const& fact) {
    if (is_rerun(fact)) {
      now_.recomputed -= of_block(fact);
    } else if (fact.in_block) {
      now_.activations -= of_block(fact);
      other_blocks_ += one(fact) * fact.copies - of_block(fact);
    } else {
      now_.activations -= one(fact) * fact.copies;
    }
  }

  /// The block is run again: what it keeps is there, its output, and the gradient that came for it until it is left.
  constexpr void enter_block(std::size_t last) {
    block_gradient_ = one(saved_[last]);
    now_.recomputed = block_gradient_ * saved_[last].copies;
    outside_ = carried_ + arriving_;
    for (std::size_t i = last; i-- > 0 && saved_[i].role != role::block_input;)
      if (saved_[i].role == role::stored) now_.recomputed += of_block(saved_[i]);
    // Its end, on several shards: what is summed over them is there beside the sum.
    now_.layer = saved_[last].layer;
    look(carried_ + block_gradient_ * (setup_.mesh.tp > 1 ? 2 : 1));
  }

  constexpr void leave_block(saved_fact const& fact) {
    now_.activations -= other_blocks_;
    other_blocks_ = 0;
    if (!setup_.recompute) return;
    now_.activations -= one(fact) * fact.copies;
    carried_ = outside_;
    now_.recomputed = weights_ = block_gradient_ = 0;
  }

  Saved const& saved_;
  setup const& setup_;
  backward_moment now_, largest_;
  int moment_ = 0;                                  ///< whose tensors are in held_; 0: none
  std::int64_t held_ = 0;                           ///< gradients of this moment
  std::int64_t carried_ = 0;                        ///< gradients that wait beside a branch
  std::int64_t arriving_ = 0;                       ///< will wait beside the next moment's
  std::int64_t weights_ = 0, waiting_weights_ = 0;  ///< of a recomputed block: given to the parameters at its end
  std::int64_t block_gradient_ = 0;                 ///< of a recomputed block's output, before its first moment
  bool kept_to_block_end_ = false;                  ///< the open branch carries that gradient
  std::int64_t outside_ = 0;                        ///< waits beside a recomputed block
  std::int64_t other_blocks_ = 0;                   ///< activations of the blocks before the visited one
};

}  // namespace detail

/// The moment of backward in which a rank holds most, beside what it holds throughout. `kept`: what forward keeps.
template <class Saved>
constexpr backward_moment largest_backward(Saved const& saved, setup const& s, std::int64_t kept) {
  return detail::backward_replay<Saved>(saved, s, kept).largest();
}

}  // namespace redco
