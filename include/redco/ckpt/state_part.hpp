#pragma once

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/names.hpp>

#include <redco/diag/error.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace redco::ckpt {

/// The part of one tensor of a run's state that one rank holds. Names: "h.0.mlp.up.weight" is a
/// parameter, "master.<parameter>" its f32 copy that the optimizer updates,
/// "optimizer.<slot>.<parameter>" an optimizer slot, and "object.<name>" the bytes of a user's
/// object.
struct state_part {
  std::string name;
  std::vector<std::int64_t> shape;  ///< shape of the whole, unsharded tensor without padding
  /// Tensor on this rank. From index 0 on in each dimension, it holds the values of `place`; all
  /// other elements are padding.
  at::Tensor local;
  /// Box (offsets and sizes) of the unsharded tensor that this rank holds; empty if the rank holds
  /// only padding.
  safetensors::box place;
  /// True if this rank writes its box to checkpoints. Over all ranks, the boxes with `owner` must
  /// cover each element exactly once.
  bool owner = true;
};

}  // namespace redco::ckpt

namespace redco::ckpt::detail {

/// Throws `error` with exit code 70 if the box of a part does not fit into its local tensor or its
/// tensor's shape.
inline void check_part(state_part const& part) {
  if (!safetensors::tensor_name(part.name) || !part.local.defined() ||
      !safetensors::has_room(part.local.sizes(), part.place, part.shape))
    throw error(exit_code::internal,
                "the part of tensor " + safetensors::shown(part.name) +
                    " that a rank wants to save or load does not fit the tensor. Check its box and shape.");
}

/// Returns a view of the values that a rank holds in a part, without padding.
inline at::Tensor held_values(state_part const& part) {
  at::Tensor values = part.local.detach();
  for (std::size_t d = 0; d < part.place.shape.size(); ++d)
    values = values.narrow(static_cast<std::int64_t>(d), 0, part.place.shape[d]);
  return values;
}

}  // namespace redco::ckpt::detail
