#pragma once

#include <redco/kernel/composed/norms.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/norm_rows.hpp>
#include <redco/kernel/cpu/norms.hpp>
#include <redco/kernel/cpu/scratch.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/layer/norms.hpp>

#include <algorithm>
#include <cstdint>

namespace redco::kernel::cpu {

/// The rows of a tensor [B, T, features] in blocks, each of one example, for kernels that read
/// numbers of the example or sum over its rows.
struct example_blocks {
  static constexpr std::int64_t rows_of_block = layers::norm_block_rows;

  std::int64_t examples, rows, features;  // rows: of an example

  explicit example_blocks(at::Tensor const& x) : examples(x.size(0)), rows(x.size(1)), features(x.size(2)) {}

  std::int64_t per_example() const { return (rows + rows_of_block - 1) / rows_of_block; }

  /// Calls f(block, example, first, count) for each block on several threads. `first` is the number
  /// of the block's first row among all rows.
  template <class F>
  void each(F const& f) const {
    constexpr std::int64_t grain = 16384;  // elements of a part
    std::int64_t const blocks = per_example(), of_block = std::max<std::int64_t>(1, std::min(rows, rows_of_block));
    tensors::parallel(examples * blocks, std::max<std::int64_t>(1, grain / (of_block * features)),
                      [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t i = begin; i < end; ++i) {
                          std::int64_t const first = i % blocks * rows_of_block;
                          f(i, i / blocks, i / blocks * rows + first, std::min(rows_of_block, rows - first));
                        }
                      });
  }

  /// Returns zeros for the sums of each block, f32 [blocks, numbers].
  at::Tensor sums(at::Tensor const& x, std::int64_t numbers) const {
    return at::zeros({examples * per_example(), numbers}, x.options().dtype(at::kFloat));
  }

  /// Returns the sums of the examples, [B, 1, numbers] in `type`, given those of the blocks.
  at::Tensor of_examples(at::Tensor const& sums, at::ScalarType type) const {
    if (per_example() == 1) return sums.unsqueeze(1).to(type);
    return sums.view({examples, per_example(), -1}).sum(1, true).to(type);
  }
};

/// Returns scratch memory of this thread with 1 + scale and shift of an example in f32, each
/// `features` numbers.
template <class T>
float const* modulation_of(T const* modulation, std::int64_t example, std::int64_t features) {
  float* const to = scratch<float, 33>(2 * features);
  T const* const from = modulation + example * 2 * features;
  for (std::int64_t j = 0; j < features; ++j) to[j] = 1 + static_cast<float>(from[j]);
  for (std::int64_t j = features; j < 2 * features; ++j) to[j] = static_cast<float>(from[j]);
  return to;
}

template <class T>
composed::norm_result modulated_norm_rows(at::Tensor const& x, at::Tensor const& modulation, double epsilon) {
  example_blocks const blocks(x);
  auto const statistics = x.options().dtype(at::kFloat);
  composed::norm_result const made{at::empty_like(x), at::empty({x.size(0), x.size(1)}, statistics),
                                   at::empty({x.size(0), x.size(1)}, statistics)};
  T const* const from = x.const_data_ptr<T>();
  T const* const by = modulation.const_data_ptr<T>();
  T* const to = made.y.mutable_data_ptr<T>();
  float *const mean = made.mean.mutable_data_ptr<float>(), *const rstd = made.rstd.mutable_data_ptr<float>();
  std::int64_t const n = blocks.features;
  blocks.each([&](std::int64_t, std::int64_t example, std::int64_t first, std::int64_t count) {
    float const* const numbers = modulation_of(by, example, n);
    with_lanes<T>(norm_forward_rows<true, T>{from + first * n, numbers, numbers + n, to + first * n, mean + first,
                                             rstd + first, count, n, epsilon});
  });
  return made;
}

template <class T>
torch::autograd::variable_list modulated_norm_gradients(at::Tensor const& g, at::Tensor const& x,
                                                        at::Tensor const& modulation, at::Tensor const& mean,
                                                        at::Tensor const& rstd) {
  example_blocks const blocks(x);
  std::int64_t const n = blocks.features;
  at::Tensor const dx = at::empty_like(x), sums = blocks.sums(x, 2 * n);
  T const *const of_y = g.const_data_ptr<T>(), *const from = x.const_data_ptr<T>();
  T const* const by = modulation.const_data_ptr<T>();
  T* const to = dx.mutable_data_ptr<T>();
  float const *const means = mean.const_data_ptr<float>(), *const rstds = rstd.const_data_ptr<float>();
  float* const all_sums = sums.mutable_data_ptr<float>();
  blocks.each([&](std::int64_t block, std::int64_t example, std::int64_t first, std::int64_t count) {
    float* const own = all_sums + block * 2 * n;
    with_lanes<T>(norm_backward_rows<true, T>{of_y + first * n, from + first * n, modulation_of(by, example, n),
                                              means + first, rstds + first, to + first * n, own, own + n, count, n});
  });
  return {dx, blocks.of_examples(sums, x.scalar_type())};
}

/// The differentiable function of modulated_layer_norm.
struct modulated_norm_function : tensors::recorded_function<modulated_norm_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x, at::Tensor const& modulation,
                            double epsilon) {
    auto const made = !norm_has_vectors(x)            ? composed::modulated_norm(x, modulation, epsilon)
                      : x.scalar_type() == at::kFloat ? modulated_norm_rows<float>(x, modulation, epsilon)
                                                      : modulated_norm_rows<at::BFloat16>(x, modulation, epsilon);
    ctx->save_for_backward({x, tensors::save_as("modulation", modulation), tensors::save_as("mean", made.mean),
                            tensors::save_as("inverse_deviation", made.rstd)});
    ctx->saved_data["epsilon"] = epsilon;
    return made.y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const saved = ctx->get_saved_variables();
    at::Tensor const &x = saved[0], &modulation = saved[1];
    auto made = !norm_has_vectors(x) || at::GradMode::is_enabled()
                    ? composed::modulated_norm_backward(g[0], x, modulation, ctx->saved_data["epsilon"].toDouble())
                : x.scalar_type() == at::kFloat
                    ? modulated_norm_gradients<float>(g[0].contiguous(), x, modulation, saved[2], saved[3])
                    : modulated_norm_gradients<at::BFloat16>(g[0].contiguous(), x, modulation, saved[2], saved[3]);
    made.resize(3);
    return made;
  }
};

inline at::Tensor modulated_norm(at::Tensor const& x, at::Tensor const& modulation, double epsilon) {
  return modulated_norm_function::apply(x.contiguous(), modulation.contiguous(), epsilon);
}

/// A task on some rows of one example: y = x gate, or the backward of it, dx = g gate and sums += g
/// x over the rows.
template <class T>
struct gated_rows {
  T const* x;
  T const* gate;
  T const* g;  // null in forward
  T* to;
  float* sums;  // [features], null in forward
  std::int64_t rows, features;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    T const* const factors = g != nullptr ? g : x;
    typename lanes<W>::real u, v, sum;
    for (std::int64_t r = 0; r < rows; ++r) {
      std::int64_t const row = r * features;
      std::int64_t j = 0;
      for (; j + W <= features; j += W) {
        load_lanes<W>(u, factors + row + j);
        load_lanes<W>(v, gate + j);
        store_lanes<W>(to + row + j, u * v);
        if (g == nullptr) continue;
        load_lanes<W>(v, x + row + j);
        load_lanes<W>(sum, sums + j);
        sum += u * v;
        store_lanes<W>(sums + j, sum);
      }
      for (; j < features; ++j) {
        float const one = static_cast<float>(factors[row + j]);
        to[row + j] = static_cast<T>(one * static_cast<float>(gate[j]));
        if (g != nullptr) sums[j] += one * static_cast<float>(x[row + j]);
      }
    }
  }
};

/// Computes y = x gate into `to`. Given the gradient `g` of y, computes dx into `to` instead, and
/// adds the sums of the gate's gradient over blocks of rows to `sums`.
template <class T>
void run_gated(at::Tensor const& x, at::Tensor const& gate, at::Tensor const& to, at::Tensor const& g = {},
               at::Tensor const& sums = {}) {
  example_blocks const blocks(x);
  std::int64_t const n = blocks.features;
  T const *const from = x.const_data_ptr<T>(), *const factors = gate.const_data_ptr<T>();
  T const* const of_y = g.defined() ? g.const_data_ptr<T>() : nullptr;
  T* const result = to.mutable_data_ptr<T>();
  float* const all_sums = sums.defined() ? sums.mutable_data_ptr<float>() : nullptr;
  blocks.each([&](std::int64_t block, std::int64_t example, std::int64_t first, std::int64_t count) {
    with_lanes<T>(gated_rows<T>{from + first * n, factors + example * n, of_y != nullptr ? of_y + first * n : nullptr,
                                result + first * n, all_sums != nullptr ? all_sums + block * n : nullptr, count, n});
  });
}

/// The differentiable function of `gated`.
struct gated_function : tensors::recorded_function<gated_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x, at::Tensor const& gate) {
    ctx->save_for_backward({x, tensors::save_as("gate", gate)});
    if (!norm_has_vectors(x)) return x * gate;
    at::Tensor const y = at::empty_like(x);
    x.scalar_type() == at::kFloat ? run_gated<float>(x, gate, y) : run_gated<at::BFloat16>(x, gate, y);
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& gradients) {
    auto const saved = ctx->get_saved_variables();
    at::Tensor const &x = saved[0], &gate = saved[1], &g = gradients[0];
    if (!norm_has_vectors(x) || at::GradMode::is_enabled()) return {g * gate, (g * x).sum(1, true)};
    example_blocks const blocks(x);
    at::Tensor const dx = at::empty_like(x), sums = blocks.sums(x, blocks.features), dense = g.contiguous();
    x.scalar_type() == at::kFloat ? run_gated<float>(x, gate, dx, dense, sums)
                                  : run_gated<at::BFloat16>(x, gate, dx, dense, sums);
    return {dx, blocks.of_examples(sums, gate.scalar_type())};
  }
};

inline at::Tensor gated(at::Tensor const& x, at::Tensor const& gate) {
  return gated_function::apply(x.contiguous(), gate.contiguous());
}

}  // namespace redco::kernel::cpu
