#pragma once

#include <redco/comm/reduce_op.hpp>

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <vector>

namespace redco::comm::detail {

/// Returns the reduction of the tensors `all` in their order, on the device and in the dtype of
/// `like`, by ATen's operators. The result is bit-equal to reduce_ranks.hpp: 16-bit floats are
/// reduced in f32 and rounded once.
inline at::Tensor reduced_in_order(std::vector<at::Tensor> const& all, reduce_op op, at::Tensor const& like) {
  at::ScalarType const type = like.scalar_type();
  at::ScalarType const wide = type == at::kBFloat16 || type == at::kHalf ? at::kFloat : type;
  at::Tensor joint = all.front().to(like.device(), wide);
  for (std::size_t i = 1; i < all.size(); ++i) {
    at::Tensor const next = all[i].to(like.device(), wide);
    joint = op == reduce_op::sum   ? at::add(joint, next)
            : op == reduce_op::max ? at::maximum(joint, next)
                                   : at::minimum(joint, next);
  }
  return joint.to(type);
}

}  // namespace redco::comm::detail
