#pragma once

#include "torch_catch.hpp"

#include <redco/ckpt/state_part.hpp>

#include <redco/model/stored_name.hpp>
#include <redco/shape/mesh.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace ckpt_test {

/// A parameter of a made-up model: split over tp along `split` in `units`, or replicated with -1.
/// If there are fewer units than ranks, neighbours share one. Units that do not divide evenly leave
/// padding.
struct toy_parameter {
  std::string name;
  std::vector<std::int64_t> shape;
  int split;
  std::int64_t units;
};

/// Parameters of every kind: fused and transposed as GPT-2's, uneven, shared from four shards on,
/// replicated, stored with leading extents of one, and empty.
inline std::vector<toy_parameter> const& toy_parameters() {
  static std::vector<toy_parameter> const all{
      {"wte.weight", {7, 5}, 0, 7},     {"h.0.q.weight", {12, 5}, 0, 6},  {"h.0.k.weight", {12, 5}, 0, 6},
      {"h.0.q.bias", {12}, 0, 6},       {"h.0.k.bias", {12}, 0, 6},       {"h.0.o.weight", {5, 12}, 1, 6},
      {"h.0.few.weight", {4, 5}, 0, 2}, {"h.1.few.weight", {4, 5}, 0, 2}, {"h.0.ln.weight", {5}, -1, 1},
      {"cls.weight", {9}, -1, 1},       {"none", {0, 3}, -1, 1},
  };
  return all;
}

inline std::vector<redco::models::stored_name> const toy_names{
    redco::models::stored_name{"wte.weight", "t.wte.weight"},
    redco::models::stored_name{"h.*.q.weight", "t.h.*.attn.weight", true, 0, 2},
    redco::models::stored_name{"h.*.k.weight", "t.h.*.attn.weight", true, 1, 2},
    redco::models::stored_name{"h.*.q.bias", "t.h.*.attn.bias", false, 0, 2},
    redco::models::stored_name{"h.*.k.bias", "t.h.*.attn.bias", false, 1, 2},
    redco::models::stored_name{"h.*.o.weight", "t.h.*.out.weight", true},
    redco::models::stored_name{"h.*.few.weight", "t.h.*.few.weight"},
    redco::models::stored_name{"h.*.ln.weight", "t.h.*.ln.weight"},
    redco::models::stored_name{.ours = "cls.weight", .theirs = "t.cls", .ones = 2},
    redco::models::stored_name{"none", "t.none"},
};

inline at::Tensor toy_values(toy_parameter const& p) {
  std::int64_t count = 1;
  for (auto const size : p.shape) count *= size;
  return at::arange(1, count + 1, at::kFloat).reshape(p.shape) / 8 + static_cast<double>(p.name.size() * 100) +
         (p.name.find('k') == std::string::npos ? 0 : 1000);
}

/// Returns the parts of a rank. If `filled`, they have their values and garbage in the padding,
/// else garbage everywhere.
inline std::vector<redco::ckpt::state_part> toy_state(redco::mesh const& mesh, int rank, bool filled,
                                                      at::ScalarType type = at::kFloat) {
  std::vector<redco::ckpt::state_part> parts;
  for (toy_parameter const& p : toy_parameters()) {
    redco::ckpt::state_part part{
        .name = p.name, .shape = p.shape, .local = {}, .box = redco::safetensors::whole(p.shape)};
    std::vector<std::int64_t> local = p.shape;
    std::int64_t sharers = mesh.tp;
    if (p.split >= 0 && mesh.tp > 1) {
      auto const d = static_cast<std::size_t>(p.split);
      sharers = std::max<std::int64_t>(1, mesh.tp / p.units);
      std::int64_t const each = (p.units + mesh.tp - 1) / mesh.tp * (p.shape[d] / p.units);
      local[d] = each;
      part.box.offset[d] = std::min(p.shape[d], each * (mesh.coordinate(rank, redco::shape::axis::tp) / sharers));
      part.box.shape[d] = std::min(p.shape[d], part.box.offset[d] + each) - part.box.offset[d];
    }
    part.owner = mesh.coordinate(rank, redco::shape::axis::dp) == 0 &&
                 mesh.coordinate(rank, redco::shape::axis::tp) % sharers == 0;
    part.local = at::full(local, 77, at::TensorOptions(type));
    if (filled) {
      at::Tensor values = toy_values(p);
      for (std::size_t d = 0; d < local.size(); ++d)
        values = values.narrow(static_cast<std::int64_t>(d), part.box.offset[d], part.box.shape[d]);
      redco::ckpt::detail::held_values(part).copy_(values);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

/// Returns the number of parts that differ from the unsharded tensors' values or have padding other
/// than zero.
inline int wrong_toy_parts(std::vector<redco::ckpt::state_part> const& parts) {
  int wrong = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    redco::ckpt::state_part want = parts[i];
    want.local = at::zeros_like(parts[i].local);
    at::Tensor values = toy_values(toy_parameters()[i]);
    for (std::size_t d = 0; d < want.shape.size(); ++d)
      values = values.narrow(static_cast<std::int64_t>(d), want.box.offset[d], want.box.shape[d]);
    redco::ckpt::detail::held_values(want).copy_(values);
    wrong += !want.local.equal(parts[i].local);
  }
  return wrong;
}

}  // namespace ckpt_test
