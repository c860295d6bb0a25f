#pragma once

#include "torch_catch.hpp"

#include <redco/ckpt/state_part.hpp>

#include <redco/shape/mesh.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace ckpt_test {

/// A tensor of a made-up model: split over tp along `split`, or replicated with -1.
struct tensor_spec {
  std::string name;
  std::vector<std::int64_t> shape;
  at::ScalarType type;
  int split;
};

inline std::vector<tensor_spec> const& specs() {
  static std::vector<tensor_spec> const all{
      {"wte.weight", {7, 5}, at::kBFloat16, 0},
      {"h.0.up.weight", {6, 11}, at::kFloat, 1},
      {"h.0.ln.weight", {9}, at::kFloat, -1},
      {"h.0.few", {2, 3}, at::kHalf, 0},
      {"flags", {4, 2, 3}, at::kBool, -1},
      {"none", {0, 3}, at::kFloat, -1},
      {"optimizer.m.h.0.up.weight", {6, 11}, at::kFloat, 1},
      {"optimizer.step", {}, at::kLong, -1},
      {"master.wte.weight", {7, 5}, at::kFloat, 0},
  };
  return all;
}

/// Returns the unsharded tensor: every element is different, none is zero if the type allows.
inline at::Tensor whole_values(tensor_spec const& spec) {
  std::int64_t count = 1;
  for (auto const size : spec.shape) count *= size;
  at::Tensor const numbers =
      at::arange(1, count + 1, at::kLong).reshape(spec.shape) + static_cast<std::int64_t>(spec.name.size());
  return spec.type == at::kBool ? numbers.remainder(3).eq(0) : numbers.to(spec.type);
}

/// Returns the parts of a rank. If `filled`, they have their values and garbage in the padding,
/// else garbage everywhere.
inline std::vector<redco::ckpt::state_part> sharded_state(redco::mesh const& mesh, int rank, bool filled) {
  std::vector<redco::ckpt::state_part> parts;
  for (tensor_spec const& spec : specs()) {
    redco::ckpt::state_part part{
        .name = spec.name, .shape = spec.shape, .local = {}, .box = redco::safetensors::whole(spec.shape)};
    part.owner = mesh.coordinate(rank, redco::shape::axis::dp) == 0 &&
                 (spec.split >= 0 || mesh.coordinate(rank, redco::shape::axis::tp) == 0);
    std::vector<std::int64_t> local = spec.shape;
    if (spec.split >= 0) {
      auto const d = static_cast<std::size_t>(spec.split);
      std::int64_t const size = spec.shape[d];
      std::int64_t const each = (size + mesh.tp - 1) / mesh.tp;
      local[d] = each;
      part.box.offset[d] = std::min(size, each * mesh.coordinate(rank, redco::shape::axis::tp));
      part.box.shape[d] = std::min(size, part.box.offset[d] + each) - part.box.offset[d];
    }
    part.local = at::full(local, 77, at::TensorOptions(spec.type));
    if (filled) {
      at::Tensor corner = part.local;
      at::Tensor values = whole_values(spec);
      for (std::size_t i = 0; i < local.size(); ++i) {
        auto const d = static_cast<std::int64_t>(i);
        corner = corner.narrow(d, 0, part.box.shape[i]);
        values = values.narrow(d, part.box.offset[i], part.box.shape[i]);
      }
      corner.copy_(values);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

/// Returns the number of parts that differ from the unsharded tensors' values or have padding other
/// than zero.
inline int wrong_parts(std::vector<redco::ckpt::state_part> const& parts) {
  int wrong = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    at::Tensor want = at::zeros_like(parts[p].local);
    at::Tensor corner = want;
    at::Tensor values = whole_values(specs()[p]);
    for (std::size_t i = 0; i < parts[p].shape.size(); ++i) {
      auto const d = static_cast<std::int64_t>(i);
      corner = corner.narrow(d, 0, parts[p].box.shape[i]);
      values = values.narrow(d, parts[p].box.offset[i], parts[p].box.shape[i]);
    }
    corner.copy_(values);
    wrong += !want.equal(parts[p].local);
  }
  return wrong;
}

}  // namespace ckpt_test
