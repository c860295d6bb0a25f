#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/tensor/torch.hpp>

#include <vector>

namespace redco::adapt {

/// Returns a rank's parts of the model's parameters with LoRA adapters merged: each adapted weight
/// is a copy W + s B A. `base`: the rank's parts of all parameters except adapters. Sends no
/// messages between ranks.
inline std::vector<ckpt::state_part> merged(nn::network_base const& net, std::vector<ckpt::state_part> base) {
  at::NoGradGuard const no_grad;
  for (auto const& some : net.side_products())
    for (nn::detail::weight_change const& one : some->changes())
      for (ckpt::state_part& part : base)
        if (part.name == one.weight) part.local = part.local + one.change;
  return base;
}

}  // namespace redco::adapt
