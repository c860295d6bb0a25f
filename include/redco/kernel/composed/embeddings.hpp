#pragma once

#include <redco/kernel/composed/widened.hpp>
#include <redco/kernel/embeddings.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/layer/attention_traits.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace redco::kernel::composed {

/// Returns rows of this rank's shard of a table, with ATen operators. An id of -1 gives zeros. The
/// row with the id `padding` gets no gradient.
inline at::Tensor lookup(at::Tensor const& table, at::Tensor const& local_ids, std::int64_t padding) {
  at::Tensor const rows = at::embedding(table, local_ids.clamp_min(0), padding);
  return rows.masked_fill(local_ids.lt(0).unsqueeze(-1), 0);
}

/// Returns the angle in radians by which rotary positions rotate feature pair `i` per position.
inline double frequency(layers::rotary_angles const& a, std::int64_t i) {
  double const plain = std::pow(a.theta, -2.0 * static_cast<double>(i) / static_cast<double>(a.dims));
  layers::rotary_scaling const& s = a.scaling;
  if (s.factor == 1) return plain;
  // Number of full turns within the context length of the original training.
  double const waves = static_cast<double>(s.context) * plain / (2 * std::numbers::pi);
  if (waves < s.low_frequency) return plain / s.factor;
  if (waves > s.high_frequency) return plain;
  double const mix = (waves - s.low_frequency) / (s.high_frequency - s.low_frequency);
  return plain * (mix + (1 - mix) / s.factor);
}

/// Returns a copy of `x` with its heads rotated by their positions (rotary positions), computed
/// with ATen operators.
inline at::Tensor rotate(at::Tensor const& x, rotation const& by, at::Tensor const& positions) {
  std::int64_t const width = by.heads * by.head_dim, dims = by.angles.dims, half = dims / 2;
  std::vector<double> each;
  for (std::int64_t i = 0; i < half; ++i) each.push_back(frequency(by.angles, i));
  auto const exact = x.options().dtype(at::kDouble);
  at::Tensor const exact_positions =
      positions.defined() ? positions.to(exact) : at::arange(by.first, by.first + x.size(1), exact).unsqueeze(0);
  // Shape [B or 1, T, 1, half].
  at::Tensor const angles = (exact_positions.unsqueeze(-1) * at::tensor(each).to(exact)).unsqueeze(2);
  at::Tensor const heads = x.narrow(2, 0, width).unflatten(2, {by.heads, by.head_dim});
  at::Tensor const wide = widened(heads.narrow(3, 0, dims));
  bool const halves = by.angles.pairs == layers::rotary_pairs::halves;
  auto const pairs = (halves ? wide.unflatten(3, {2, half}).transpose(3, 4) : wide.unflatten(3, {half, 2})).unbind(4);
  at::Tensor const cosine = angles.cos().to(wide.scalar_type()), sine = angles.sin().to(wide.scalar_type());
  at::Tensor const u = pairs[0] * cosine - pairs[1] * sine, v = pairs[1] * cosine + pairs[0] * sine;
  at::Tensor const both = halves ? at::cat({u, v}, 3) : at::stack({u, v}, 4).flatten(3);
  at::Tensor const whole = at::cat({both.to(x.scalar_type()), heads.narrow(3, dims, by.head_dim - dims)}, 3);
  return at::cat({whole.flatten(2), x.narrow(2, width, x.size(2) - width)}, 2);
}

}  // namespace redco::kernel::composed
