#pragma once

#include <redco/cost/backward_moment.hpp>
#include <redco/cost/detail/backward_pass.hpp>
#include <redco/cost/detail/forward_moments.hpp>
#include <redco/cost/detail/forward_pass.hpp>
#include <redco/cost/local_extents.hpp>
#include <redco/cost/moment.hpp>
#include <redco/cost/setup.hpp>

#include <redco/fact/event.hpp>
#include <redco/fact/program.hpp>
#include <redco/fact/work.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::cost {

/// A simulation of a model's program on one rank, forward and backward. Gives its tensors,
/// products, messages and memory over time. The program and the setup must outlive the simulation.
class simulation {
 public:
  constexpr simulation(fact::program const& p, setup const& s) : program_(p), setup_(s), forward_(p, s) {
    for (std::size_t i = 0; i < p.events.size(); ++i) {
      using kind = detail::placed_tensor::kind;
      detail::placed_tensor const& t = forward_.tensors[i];
      activations_ += t.saved_bytes();
      if (t.what == kind::loss) loss_ += t.all();
      bool const converted = p.events[i].what == fact::event_kind::loss_sum;
      if (t.what == kind::loss_workspace && !(converted && accumulate_type(s.compute) == s.compute))
        loss_workspace_ += t.all();
    }
    backward_ = detail::backward_pass(p, forward_.tensors, forward_.rows, s, activations_).list;
    for (moment const& one : backward_)
      if (one.bytes() > most_.bytes()) most_ = one;
  }

  constexpr fact::program const& program() const { return program_; }
  constexpr setup const& run() const { return setup_; }

  /// Returns the tensor that each event of the program states on this rank.
  constexpr std::vector<detail::placed_tensor> const& tensors() const { return forward_.tensors; }
  /// Returns how many times each of the program's messages is sent per micro-batch.
  constexpr std::vector<std::int64_t> const& sent() const { return forward_.sent; }
  /// Returns the operations of forward.
  constexpr redco::fact::work const& work() const { return forward_.work; }
  /// Returns the bytes that forward saves for backward. Of recomputed blocks only the inputs are
  /// saved.
  constexpr std::int64_t activations() const { return activations_; }
  /// Returns the bytes that the loss computes in forward and saves for backward. loss_workspace()
  /// returns the temporary bytes of the loss.
  constexpr std::int64_t loss() const { return loss_; }
  constexpr std::int64_t loss_workspace() const { return loss_workspace_; }
  /// Returns memory over one micro-batch and the update: forward and backward layer by layer, the
  /// loss, the update. In an outermost `repeat`, lists only the blocks that hold most: of each kind
  /// the last recomputed block and the last other block.
  constexpr std::vector<moment> moments() const {
    std::vector<moment> all = detail::forward_moments(program_, forward_).list;
    all.push_back({.when = moment::phase::loss, .activations = activations_, .loss = loss_ + loss_workspace_});
    for (moment const& one : backward_) all.push_back(one);
    all.push_back({.when = moment::phase::update});
    return all;
  }
  /// Returns the moment of backward with the most bytes.
  constexpr backward_moment backward() const {
    backward_moment most{{}, most_.activations, most_.recomputed, most_.gradients};
    if (most_.layer >= 0) most.layer = program_.layers[static_cast<std::size_t>(most_.layer)];
    return most;
  }

 private:
  fact::program const& program_;
  setup const& setup_;
  detail::forward_pass forward_;
  std::int64_t activations_ = 0, loss_ = 0, loss_workspace_ = 0;
  std::vector<moment> backward_;
  moment most_;  ///< moment of backward with the most bytes
};

}  // namespace redco::cost
