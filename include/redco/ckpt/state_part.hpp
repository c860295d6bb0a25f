#pragma once

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/names.hpp>

#include <redco/diag/error.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace redco::ckpt {

/// The part of one tensor of a run's state that one rank holds. A tensor is a parameter
/// ("h.0.mlp.up.weight"), its f32 master ("master.<parameter>"), an optimizer slot
/// ("optimizer.<slot>.<parameter>"), or bytes of the program ("object.<name>").
struct state_part {
  std::string name;
  std::vector<std::int64_t> shape;  ///< shape of the unsharded tensor, without padding
  /// Tensor of this rank. Its leading corner has the values of the box; all other elements are
  /// padding.
  at::Tensor local;
  /// Box of the unsharded tensor that this rank holds; empty if the rank holds padding only.
  safetensors::box place;
  /// True if this rank writes the box. The boxes of all owners must cover each element exactly
  /// once.
  bool owner = true;
};

namespace detail {

/// Throws `error` with exit code 70 if the box of a part does not fit its local tensor and its
/// shape.
inline void check_part(state_part const& part) {
  if (!safetensors::tensor_name(part.name) || !part.local.defined() ||
      !safetensors::has_room(part.local.sizes(), part.place, part.shape))
    throw error(exit_code::internal,
                "the part of tensor " + safetensors::shown(part.name) +
                    " that a rank wants to save or load does not fit the tensor. Check its box and shape.");
}

/// Returns a view of the values of a part's box, without padding.
inline at::Tensor held_values(state_part const& part) {
  at::Tensor values = part.local.detach();
  for (std::size_t d = 0; d < part.place.shape.size(); ++d)
    values = values.narrow(static_cast<std::int64_t>(d), 0, part.place.shape[d]);
  return values;
}

}  // namespace detail

}  // namespace redco::ckpt
