#pragma once

#include <redco/cost/backward_moment.hpp>
#include <redco/cost/detail/backward_pass.hpp>
#include <redco/cost/detail/forward_pass.hpp>
#include <redco/cost/setup.hpp>

#include <redco/fact/program.hpp>
#include <redco/fact/work.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace redco {

/// A model's program run on one rank, forward and backward: what its tensors, products and moments come to. The program and
/// the setup outlive it.
class simulation {
 public:
  constexpr simulation(fact::program const& p, setup const& s) : program_(p), setup_(s), forward_(p, s) {
    for (detail::placed_tensor const& t : forward_.tensors) activations_ += t.saved_bytes();
    backward_ = detail::backward_pass(p, forward_.tensors, forward_.rows, s, activations_).largest();
  }

  constexpr fact::program const& program() const { return program_; }
  constexpr setup const& run() const { return setup_; }

  /// What each event of the program states, on this rank.
  constexpr std::vector<detail::placed_tensor> const& tensors() const { return forward_.tensors; }
  /// How often each of the program's messages is sent for one micro-batch.
  constexpr std::vector<std::int64_t> const& sent() const { return forward_.sent; }
  /// Of forward.
  constexpr redco::work const& work() const { return forward_.work; }
  /// Bytes that forward saves for backward; of blocks that run again their inputs.
  constexpr std::int64_t activations() const { return activations_; }
  /// The moment of backward in which the rank holds most.
  constexpr backward_moment const& backward() const { return backward_; }

 private:
  fact::program const& program_;
  setup const& setup_;
  detail::forward_pass forward_;
  std::int64_t activations_ = 0;
  backward_moment backward_;
};

}  // namespace redco
