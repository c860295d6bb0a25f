#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/nn/parameter.hpp>

#include <redco/tensor/torch.hpp>

#include <functional>
#include <vector>

namespace redco {

/// A watch that calls `after_grad(which)` for each trained parameter as soon as backward has added
/// its whole gradient to the flat buffer. The gradient can then be sent during backward.
/// `which.place` is the index in network().parameters().
///
/// Calls come from the thread that runs backward, once per backward, in the order in which
/// gradients are complete. An exception from the callback ends backward. One watch per network at a
/// time. autograd::grad adds to no buffer, so it triggers no call.
class gradient_watch {
 public:
  gradient_watch(network_base const& net, std::function<void(parameter which)> after_grad);
  gradient_watch(gradient_watch const&) = delete;
  gradient_watch& operator=(gradient_watch const&) = delete;
  ~gradient_watch();

  /// Returns true if a watch of this network is alive.
  static bool on(network_base const& net);

 private:
  std::vector<at::Tensor> leaves_;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/nn/gradient_watch.inl.hpp>
#endif
