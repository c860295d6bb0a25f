#pragma once

namespace redco {

/// Which projections of an attention have biases. `true` stands for all of them, `false` for none.
struct projection_biases {
  bool qkv = true;
  bool o = true;

  constexpr projection_biases(bool all) : qkv(all), o(all) {}
  constexpr projection_biases(bool of_qkv, bool of_o) : qkv(of_qkv), o(of_o) {}
};

}  // namespace redco
