#pragma once

#include <redco/cost/detail/backward_pass.hpp>
#include <redco/cost/detail/forward_moments.hpp>
#include <redco/cost/detail/forward_pass.hpp>
#include <redco/cost/detail/gathered_blocks.hpp>
#include <redco/cost/local_extents.hpp>
#include <redco/cost/memory.hpp>
#include <redco/cost/setup.hpp>

#include <redco/fact/event.hpp>
#include <redco/fact/program.hpp>
#include <redco/fact/work.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::cost {

/// A simulation of forward and backward of a model's program on one rank. Gives its tensors,
/// operations, messages and memory over time. Refers to the program and the setup, which must
/// outlive the simulation.
class simulation {
 public:
  constexpr simulation(fact::program const& p, setup const& s)
      : program_(p), setup_(s), forward_(p, s), gathered_(p, s) {
    for (std::size_t i = 0; i < p.events.size(); ++i) {
      using kind = detail::placed_tensor::kind;
      detail::placed_tensor const& t = forward_.tensors[i];
      activations_ += t.saved_bytes();
      if (t.lifetime == kind::loss) loss_ += t.all();
      bool const converted = p.events[i].kind == fact::event_kind::loss_sum;
      if (t.lifetime == kind::loss_workspace && !(converted && accumulate_type(s.compute) == s.compute))
        loss_workspace_ += t.all();
    }
    backward_ = detail::backward_pass(p, forward_.tensors, forward_.rows, s, activations_, gathered_).list;
    for (moment const& one : backward_)
      if (one.bytes() > most_.bytes()) most_ = one;
  }

  constexpr fact::program const& program() const { return program_; }
  constexpr setup const& run() const { return setup_; }

  /// Returns, for each event of the program, its tensor as this rank holds it.
  constexpr std::vector<detail::placed_tensor> const& tensors() const { return forward_.tensors; }
  /// Returns, for each message of the program, how many times it is sent per micro-batch.
  constexpr std::vector<std::int64_t> const& sent() const { return forward_.sent; }
  /// Returns the floating-point operations of one forward pass of a micro-batch.
  constexpr fact::work const& work() const { return forward_.work; }
  /// Returns the bytes that forward saves for backward in one micro-batch. Recomputed blocks save
  /// only their inputs.
  constexpr std::int64_t activations() const { return activations_; }
  /// Returns the bytes of gradients that the loss computes in forward and saves for backward.
  /// loss_workspace() returns the bytes of the loss's temporary tensors.
  constexpr std::int64_t loss() const { return loss_; }
  constexpr std::int64_t loss_workspace() const { return loss_workspace_; }
  /// Returns the bytes of values that the rank has gathered from the other replicas while it
  /// computes the loss; 0 unless a rank keeps only a share of the values (ZeRO 3).
  constexpr std::int64_t gathered() const { return gathered_.values(gathered_.last()); }
  /// Returns the memory of one rank at each moment of a micro-batch and of the update, in order of
  /// time. In a stack of repeated blocks, only the blocks in which memory can peak are listed. For
  /// each block type, these are the last recomputed block and the last block that is not
  /// recomputed.
  constexpr std::vector<moment> moments() const {
    std::vector<moment> all = detail::forward_moments(program_, forward_, gathered_).list;
    all.push_back({.when = moment::phase::loss,
                   .activations = activations_,
                   .loss = loss_ + loss_workspace_,
                   .gathered = gathered()});
    for (moment const& one : backward_) all.push_back(one);
    all.push_back({.when = moment::phase::update});
    return all;
  }
  /// Returns the moment of backward at which the rank holds the most bytes.
  constexpr backward_moment backward() const {
    backward_moment most{{}, most_.activations, most_.recomputed, most_.gradients, 0, most_.gathered};
    if (most_.layer >= 0) most.layer = program_.layers[static_cast<std::size_t>(most_.layer)];
    return most;
  }

 private:
  fact::program const& program_;
  setup const& setup_;
  detail::forward_pass forward_;
  detail::gathered_blocks gathered_;
  std::int64_t activations_ = 0, loss_ = 0, loss_workspace_ = 0;
  std::vector<moment> backward_;
  moment most_;  ///< Moment of backward at which the rank holds the most bytes
};

}  // namespace redco::cost
