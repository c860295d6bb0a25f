#pragma once

#include <redco/run/network_state.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <vector>

namespace redco::run {

/// A scope in which a network computes and saves with the values that its optimizer keeps for
/// evaluation, such as an average of the parameters. The trained values return at its end. Does
/// nothing for other optimizers, and before the first update. Holds a copy of the parameters.
class evaluation_values {
 public:
  explicit evaluation_values(network_state& state) : state_(state) {
    if (state.updates == 0) return;
    for (update::segment const& s : state.segments) {
      at::NoGradGuard const no_grad;
      at::Tensor const values = state.optimizer.evaluated(s);
      trained_.push_back(values.defined() ? s.param.clone() : at::Tensor());
      if (values.defined()) set(s, values);
    }
  }
  evaluation_values(evaluation_values const&) = delete;
  evaluation_values& operator=(evaluation_values const&) = delete;
  ~evaluation_values() {
    for (std::size_t i = 0; i < trained_.size(); ++i)
      if (trained_[i].defined()) set(state_.segments[i], trained_[i]);
  }

 private:
  static void set(update::segment const& s, at::Tensor const& values) {
    at::NoGradGuard const no_grad;
    at::Tensor(s.param).copy_(values);
    if (s.compute.defined()) at::Tensor(s.compute).copy_(values);
  }

  network_state& state_;
  std::vector<at::Tensor> trained_;  ///< Trained values of each segment; undefined if unchanged
};

}  // namespace redco::run
