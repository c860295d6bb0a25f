#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/nn/parameter.hpp>

#include <redco/tensor/torch.hpp>

#include <functional>
#include <vector>

namespace redco::nn {

/// A watch that calls `after_grad(which)` for each trained parameter as soon as backward has added
/// its complete gradient to the flat gradient buffer. The gradient can then be sent during
/// backward. `which.index` is the index of the parameter in network().parameters().
///
/// The thread that runs backward makes the calls, once per parameter and backward. An exception
/// from `after_grad` ends backward. A network may have one watch at a time. torch::autograd::grad
/// adds to no buffer, so it makes no call.
class gradient_watch {
 public:
  gradient_watch(network_base const& net, std::function<void(parameter which)> after_grad);
  gradient_watch(gradient_watch const&) = delete;
  gradient_watch& operator=(gradient_watch const&) = delete;
  ~gradient_watch();

  /// Returns true if the network `net` has a gradient watch at present.
  static bool on(network_base const& net);

 private:
  std::vector<at::Tensor> leaves_;
};

}  // namespace redco::nn

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/gradient_watch.inl.hpp>
#endif
