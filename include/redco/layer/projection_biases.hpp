#pragma once

namespace redco::layers {

/// A choice of the attention projections (q, k, v, o) that have a bias. A bool converts to all
/// (`true`) or none (`false`).
struct projection_biases {
  bool qkv = true;
  bool o = true;

  constexpr projection_biases(bool all) : qkv(all), o(all) {}
  constexpr projection_biases(bool of_qkv, bool of_o) : qkv(of_qkv), o(of_o) {}
};

}  // namespace redco::layers
