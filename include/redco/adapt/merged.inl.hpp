#pragma once

#include <redco/adapt/merged.hpp>

#include <redco/tensor/torch.hpp>
#include <redco/config.hpp>

namespace redco::adapt {

REDCO_INLINE std::vector<ckpt::state_part> merged(nn::network_base const& net, std::vector<ckpt::state_part> base) {
  at::NoGradGuard const no_grad;
  for (auto const& some : net.side_products())
    for (nn::detail::weight_change const& one : some->changes())
      for (ckpt::state_part& part : base)
        if (part.name == one.weight) part.local = part.local + one.change;
  return base;
}

}  // namespace redco::adapt
