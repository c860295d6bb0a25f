#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/safetensors/box.hpp>
#include <redco/safetensors/file_dtype.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace redco::ckpt::detail {

/// Scalar types of libtorch, indexed by the values of `safetensors::file_dtype`.
inline constexpr std::array<at::ScalarType, 16> scalar_types{
    at::kDouble, at::kFloat, at::kBFloat16, at::kHalf,        at::kFloat8_e5m2, at::kFloat8_e4m3fn,
    at::kLong,   at::kInt,   at::kShort,    at::kChar,        at::kUInt64,      at::kUInt32,
    at::kUInt16, at::kByte,  at::kBool,     at::kComplexFloat};

}  // namespace redco::ckpt::detail

namespace redco::ckpt {

/// Returns libtorch's scalar type for the element type `type` of a safetensors file.
constexpr at::ScalarType scalar_type_of(safetensors::file_dtype type) {
  return detail::scalar_types[static_cast<std::size_t>(type)];
}

/// Returns the element type of safetensors files for libtorch's scalar type `type`. Throws `error`
/// with exit code 70 for types that safetensors lacks (quantised, complex128).
inline safetensors::file_dtype file_dtype_of(at::ScalarType type) {
  for (std::size_t i = 0; i < detail::scalar_types.size(); ++i) {
    if (detail::scalar_types[i] == type) return static_cast<safetensors::file_dtype>(i);
  }
  throw error(exit_code::internal, std::string("a tensor of ") + c10::toString(type) +
                                       " cannot be saved: safetensors has no such type. Convert it first.");
}

/// A part of one tensor of a run's state that one rank holds. A rank may hold several parts of a
/// tensor, which do not overlap. Names: "h.0.mlp.up.weight" is a parameter, "master.<parameter>"
/// its f32 copy that the optimizer updates, "optimizer.<slot>.<parameter>" an optimizer slot, and
/// "object.<name>" the bytes of a user's object.
struct state_part {
  std::string name;
  std::vector<std::int64_t> shape;  ///< shape of the whole, unsharded tensor without padding
  /// Tensor on this rank. From index 0 on in each dimension, it holds the values of `box`; all
  /// other elements are padding.
  at::Tensor local;
  /// Box (offsets and sizes) of the unsharded tensor that this rank holds; empty if the rank holds
  /// only padding.
  safetensors::box box;
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
      !safetensors::has_room(part.local.sizes(), part.box, part.shape))
    throw error(exit_code::internal,
                "the part of tensor " + safetensors::shown(part.name) +
                    " that a rank wants to save or load does not fit the tensor. Check its box and shape.");
}

/// Returns a view of the values that a rank holds in a part, without padding.
inline at::Tensor held_values(state_part const& part) {
  at::Tensor values = part.local.detach();
  for (std::size_t d = 0; d < part.box.shape.size(); ++d)
    values = values.narrow(static_cast<std::int64_t>(d), 0, part.box.shape[d]);
  return values;
}

}  // namespace redco::ckpt::detail

namespace redco::ckpt {

/// Returns `part`, cut at each multiple of `group` rows of the unsharded tensor. If `group` is 0,
/// the part stays whole.
inline std::vector<state_part> cut_rows(state_part const& part, std::int64_t group) {
  if (group == 0 || part.box.shape.empty()) return {part};
  std::vector<state_part> all;
  std::int64_t const first = part.box.offset[0], end = first + part.box.shape[0];
  for (std::int64_t begin = first; begin < end;) {
    std::int64_t const stop = std::min(end, (begin / group + 1) * group);
    state_part cut = part;
    cut.local = part.local.narrow(0, begin - first, stop - begin);
    cut.box.offset[0] = begin;
    cut.box.shape[0] = stop - begin;
    all.push_back(std::move(cut));
    begin = stop;
  }
  return all;
}

/// Returns the pieces of a part, one for each index i of its tensor's first dimension, with the
/// name "<name>.<i>" and without this dimension.
inline std::vector<state_part> cut_by_index(state_part const& part) {
  std::vector<state_part> all;
  detail::check_part(part);
  std::int64_t const held = part.box.shape.empty() ? 0 : part.box.shape[0];
  for (std::int64_t i = 0; i < held; ++i) {
    state_part one{
        part.name + "." + std::to_string(part.box.offset[0] + i),
        {part.shape.begin() + 1, part.shape.end()},
        part.local.select(0, i),
        {{part.box.offset.begin() + 1, part.box.offset.end()}, {part.box.shape.begin() + 1, part.box.shape.end()}},
        part.owner};
    all.push_back(std::move(one));
  }
  return all;
}

/// Returns the number of bytes of the tensors in a checkpoint. `parts`: one rank's parts of all
/// tensors; each tensor is counted whole, not by its part.
inline std::uintmax_t checkpoint_bytes(std::span<state_part const> parts) {
  std::uintmax_t bytes = 0;
  for (state_part const& part : parts)
    bytes += static_cast<std::uintmax_t>(safetensors::count_of(part.shape)) *
             static_cast<std::uintmax_t>(part.local.element_size());
  return bytes;
}

}  // namespace redco::ckpt
