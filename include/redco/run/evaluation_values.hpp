#pragma once

#include <redco/run/network_state.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <vector>

namespace redco::run {

/// A scope in which a network computes and saves with the values that its optimizer keeps for
/// evaluation, such as an average of the parameters. The trained values return at its end. Has no
/// such values for other optimizers, and before the first update. Holds a copy of the parameters.
/// All ranks must make it together.
class evaluation_values {
 public:
  evaluation_values(network_state& state, rank_context& rank) : state_(state) {
    at::NoGradGuard const no_grad;
    for (update::segment const& s : state.segments) {
      if (state.updates == 0) break;
      at::Tensor const values = state.optimizer.evaluated(s);
      trained_.push_back(values.defined() ? s.param.clone() : at::Tensor());
      // The values of other ranks' shares return by a copy, because a destructor cannot gather.
      bool const whole = !state.store.shares_values();
      if (values.defined() && whole && !state.store.shares().empty() && !gathered_.defined())
        gathered_ = state.store.values().clone();
      if (values.defined()) set(s, values);
    }
    if (gathered_.defined()) state.gather_values(rank);
  }
  evaluation_values(evaluation_values const&) = delete;
  evaluation_values& operator=(evaluation_values const&) = delete;
  ~evaluation_values() {
    for (std::size_t i = 0; i < trained_.size(); ++i)
      if (trained_[i].defined()) set(state_.segments[i], trained_[i]);
    at::NoGradGuard const no_grad;
    if (gathered_.defined()) at::Tensor(state_.store.values()).copy_(gathered_);
  }

 private:
  static void set(update::segment const& s, at::Tensor const& values) {
    at::NoGradGuard const no_grad;
    at::Tensor(s.param).copy_(values);
    if (s.compute.defined()) at::Tensor(s.compute).copy_(values);
  }

  network_state& state_;
  std::vector<at::Tensor> trained_;  ///< Trained values of each segment; undefined if unchanged
  at::Tensor gathered_;              ///< Trained values of all parameters, if the ranks keep shares
};

}  // namespace redco::run
