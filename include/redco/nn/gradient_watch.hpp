#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/nn/parameter.hpp>

#include <redco/tensor/torch.hpp>

#include <functional>
#include <vector>

namespace redco {

/// While it lives, `after_grad(which)` is called for each trained parameter of a network as soon as backward has added all of its
/// gradient to the flat buffer, however often it was used: where it can be sent while backward goes on. `which.place` counts
/// network().parameters(). It is called on the thread that runs backward, once per backward, in the order in which gradients end;
/// what it throws ends backward. One watch per network at a time; autograd::grad, which adds to no buffer, calls nothing.
class gradient_watch {
 public:
  gradient_watch(network_base const& net, std::function<void(parameter which)> after_grad);
  gradient_watch(gradient_watch const&) = delete;
  gradient_watch& operator=(gradient_watch const&) = delete;
  ~gradient_watch();

  /// Whether some watch of this network lives.
  static bool on(network_base const& net);

 private:
  std::vector<at::Tensor> leaves_;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/nn/gradient_watch.inl.hpp>
#endif
