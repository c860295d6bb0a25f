#pragma once

#include <redco/kernel/composed/widened.hpp>
#include <redco/kernel/embeddings.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/layer/attention_traits.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
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

/// Returns the frequencies, in radians per position, by which rotary positions rotate each feature
/// pair in sequences of `length` tokens. Not scaled by the amplitude.
inline std::vector<double> frequencies(layers::rotary_angles const& a, std::int64_t length) {
  using enum layers::rotary_kind;
  layers::rotary_scaling const& s = a.scaling;
  auto const dims = static_cast<double>(a.dims), context = static_cast<double>(s.context);
  bool const exceeds = length > s.context;
  double theta = a.theta;
  if (s.kind == dynamic && exceeds)
    theta *= std::pow(s.factor * static_cast<double>(length) / context - (s.factor - 1), dims / (dims - 2));
  // Index of the pair that makes `turns` turns within the context length of the original training.
  auto const pair_of = [&](double turns) {
    return dims * std::log(context / (turns * 2 * std::numbers::pi)) / (2 * std::log(theta));
  };
  double unchanged = s.kind == yarn ? pair_of(s.high_frequency) : 0,
         divided = s.kind == yarn ? pair_of(s.low_frequency) : 0;
  if (s.whole_pairs) unchanged = std::floor(unchanged), divided = std::ceil(divided);
  unchanged = std::max(unchanged, 0.0), divided = std::min(divided, dims - 1);
  if (unchanged == divided) divided += 0.001;

  std::vector<double> all;
  for (std::int64_t i = 0; i < a.dims / 2; ++i) {
    double const plain = std::pow(theta, -2.0 * static_cast<double>(i) / dims);
    double kept = 1;  // Share of the frequency that is not divided by the factor.
    if (s.kind == linear) kept = 0;
    if (s.kind == yarn) kept = 1 - std::clamp((static_cast<double>(i) - unchanged) / (divided - unchanged), 0.0, 1.0);
    if (s.kind == llama3) {
      double const turns = context * plain / (2 * std::numbers::pi);
      kept = std::clamp((turns - s.low_frequency) / (s.high_frequency - s.low_frequency), 0.0, 1.0);
    }
    layers::rotary_divisors const& divisors = exceeds ? s.long_divisors : s.divisors;
    double const divisor =
        s.kind == longrope ? static_cast<double>(divisors.values.at(static_cast<std::size_t>(i))) : 1;
    all.push_back(plain * (kept + (1 - kept) / s.factor) / divisor);
  }
  return all;
}

/// Returns the frequencies() of texts of `lengths` tokens [B, T]: f64 [B, T, pairs]. For kinds of
/// rotary positions that depend on a length. Does not wait for a device.
inline at::Tensor frequencies_of_texts(layers::rotary_angles const& a, at::Tensor const& lengths) {
  layers::rotary_scaling const& s = a.scaling;
  auto const exact = lengths.options().dtype(at::kDouble);
  at::Tensor const tokens = lengths.to(at::kDouble).unsqueeze(-1);
  if (s.kind != layers::rotary_kind::dynamic)
    return at::where(tokens > static_cast<double>(s.context), at::tensor(frequencies(a, s.context + 1)).to(exact),
                     at::tensor(frequencies(a, s.context)).to(exact));
  auto const dims = static_cast<double>(a.dims);
  at::Tensor const growth = (tokens * (s.factor / static_cast<double>(s.context)) - (s.factor - 1)).clamp_min(1);
  at::Tensor const theta = growth.pow(dims / (dims - 2)) * a.theta;
  return at::pow(theta, at::arange(a.dims / 2, exact) * (-2 / dims));
}

/// Returns a copy of `x` with its heads rotated by their positions (rotary positions), computed
/// with ATen operators.
inline at::Tensor rotate(at::Tensor const& x, rotation const& by, at::Tensor const& positions,
                         at::Tensor const& lengths) {
  std::int64_t const width = by.heads * by.head_dim, dims = by.angles.dims, half = dims / 2;
  double const amplitude = by.angles.scaling.amplitude;
  auto const exact = x.options().dtype(at::kDouble);
  at::Tensor const each = lengths.defined() ? frequencies_of_texts(by.angles, lengths.to(x.device()))
                                            : at::tensor(frequencies(by.angles, by.first + x.size(1))).to(exact);
  at::Tensor const exact_positions =
      positions.defined() ? positions.to(exact) : at::arange(by.first, by.first + x.size(1), exact).unsqueeze(0);
  // Shape [B or 1, T, 1, half].
  at::Tensor const angles = (exact_positions.unsqueeze(-1) * each).unsqueeze(2);
  at::Tensor const heads = x.narrow(2, 0, width).unflatten(2, {by.heads, by.head_dim});
  at::Tensor const wide = widened(heads.narrow(3, 0, dims));
  bool const halves = by.angles.pairs == layers::rotary_pairs::halves;
  auto const pairs = (halves ? wide.unflatten(3, {2, half}).transpose(3, 4) : wide.unflatten(3, {half, 2})).unbind(4);
  at::Tensor const cosine = (angles.cos() * amplitude).to(wide.scalar_type()),
                   sine = (angles.sin() * amplitude).to(wide.scalar_type());
  at::Tensor const u = pairs[0] * cosine - pairs[1] * sine, v = pairs[1] * cosine + pairs[0] * sine;
  at::Tensor const both = halves ? at::cat({u, v}, 3) : at::stack({u, v}, 4).flatten(3);
  at::Tensor const whole = at::cat({both.to(x.scalar_type()), heads.narrow(3, dims, by.head_dim - dims)}, 3);
  return at::cat({whole.flatten(2), x.narrow(2, width, x.size(2) - width)}, 2);
}

}  // namespace redco::kernel::composed
