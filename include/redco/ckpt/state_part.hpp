#pragma once

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/names.hpp>

#include <redco/diag/error.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace redco::ckpt {

/// What one rank holds of one tensor of a run's state: a parameter "h.0.mlp.up.weight", its fp32 master
/// "master.<parameter>", an optimizer slot "optimizer.<slot>.<parameter>", or the bytes of a program's own "object.<name>".
struct state_part {
  std::string name;
  std::vector<std::int64_t> shape;  ///< of the unsharded tensor, logical: without padding
  at::Tensor local;                 ///< this rank's part; its leading corner holds the box, what lies beyond is padding
  safetensors::box place;           ///< what this rank holds of it; empty on a rank that holds padding only
  bool owner = true;  ///< whether this rank writes it: the owners' boxes together are the tensor, each element once
};

namespace detail {

/// Refuses a part whose box does not fit its tensors: error 70.
inline void check_part(state_part const& part) {
  if (!safetensors::tensor_name(part.name) || !part.local.defined() ||
      !safetensors::has_room(part.local.sizes(), part.place, part.shape))
    throw error(exit_code::internal,
                "the part of tensor " + safetensors::shown(part.name) +
                    " that a rank wants to save or load does not fit the tensor. Check its box and shape.");
}

/// A view of the values that the box holds, without padding.
inline at::Tensor held_values(state_part const& part) {
  at::Tensor values = part.local.detach();
  for (std::size_t d = 0; d < part.place.shape.size(); ++d)
    values = values.narrow(static_cast<std::int64_t>(d), 0, part.place.shape[d]);
  return values;
}

}  // namespace detail

}  // namespace redco::ckpt
