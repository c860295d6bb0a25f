#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/diag/error.hpp>

#include <string>

namespace redco::kernel::detail {

/// Throws `error` with exit code 70 if a defined `weight` or `bias` does not have the size of the
/// last dimension of x. `name` names the operation in the message.
inline void check_norm(char const* name, at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias) {
  auto const fits = [&](at::Tensor const& p) { return !p.defined() || (p.dim() == 1 && p.size(0) == x.size(-1)); };
  if (x.dim() == 0 || !fits(weight) || !fits(bias))
    throw error(exit_code::internal,
                std::string(name) +
                    ": weight and bias must have one number per feature: give them the size of the "
                    "last dimension of x");
}

}  // namespace redco::kernel::detail
