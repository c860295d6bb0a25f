#pragma once

#include <redco/kernel/composed/experts.hpp>
#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/kernel/composed/widened.hpp>
#include <redco/kernel/cpu/computes.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace redco::kernel::cpu {

/// Type in which sums of elements T are computed.
template <class T>
using sum_of = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Loops over tokens n and their `copies` rows slots[n copies + j], of `width` elements each.
struct routed_loop {
  std::int64_t const* slots;
  std::int64_t tokens, copies, width;

  /// Number of elements that one thread handles at least
  static constexpr std::int64_t grain_elements = 1 << 14;

  /// Sets the rows of token n to x[n] times weights[n, j]; null `weights` count as 1.
  template <class T>
  void spread(T const* x, sum_of<T> const* weights, T* rows) const {
    each_token([&](std::int64_t n) {
      T const* const from = x + n * width;
      for (std::int64_t j = 0; j < copies; ++j) {
        T* const to = rows + slots[n * copies + j] * width;
        if (weights == nullptr) {
          std::copy(from, from + width, to);
          continue;
        }
        sum_of<T> const w = weights[n * copies + j];
        for (std::int64_t i = 0; i < width; ++i) to[i] = static_cast<T>(w * static_cast<sum_of<T>>(from[i]));
      }
    });
  }

  /// Sets y[n] to the sum of the rows of token n times weights[n, j]; null `weights` count as 1.
  template <class T>
  void combine(T const* rows, sum_of<T> const* weights, T* y) const {
    constexpr std::int64_t block = 256;
    each_token([&](std::int64_t n) {
      for (std::int64_t first = 0; first < width; first += block) {
        std::int64_t const size = std::min(block, width - first);
        sum_of<T> sums[block] = {};
        for (std::int64_t j = 0; j < copies; ++j) {
          T const* const from = rows + slots[n * copies + j] * width + first;
          sum_of<T> const w = weights == nullptr ? sum_of<T>(1) : weights[n * copies + j];
          for (std::int64_t i = 0; i < size; ++i) sums[i] += w * static_cast<sum_of<T>>(from[i]);
        }
        for (std::int64_t i = 0; i < size; ++i) y[n * width + first + i] = static_cast<T>(sums[i]);
      }
    });
  }

  /// Sets dw[n, j] to the product of g[n] and the row slots[n copies + j].
  template <class T>
  void weight_gradient(T const* rows, T const* g, sum_of<T>* dw) const {
    each_token([&](std::int64_t n) {
      for (std::int64_t j = 0; j < copies; ++j) {
        T const* const from = rows + slots[n * copies + j] * width;
        sum_of<T> lanes[8] = {};
        for (std::int64_t i = 0; i < width; ++i)
          lanes[i % 8] += static_cast<sum_of<T>>(from[i]) * static_cast<sum_of<T>>(g[n * width + i]);
        dw[n * copies + j] =
            ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
      }
    });
  }

 private:
  template <class F>
  void each_token(F const& f) const {
    std::int64_t const elements = std::max<std::int64_t>(1, copies * width);
    tensors::parallel(tokens, std::max<std::int64_t>(1, grain_elements / elements),
                      [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t n = begin; n < end; ++n) f(n);
                      });
  }
};

/// Returns rows [slots, W] with the rows of `x` [N, W] times `weights`, which may be undefined.
inline at::Tensor spread(at::Tensor const& x, at::Tensor const& weights, at::Tensor const& slots, std::int64_t copies) {
  at::Tensor const rows = at::empty({slots.numel(), x.size(1)}, x.options());
  with_element(x.scalar_type(), [&]<class T>(T) {
    routed_loop{slots.const_data_ptr<std::int64_t>(), x.size(0), copies, x.size(1)}.spread(
        x.const_data_ptr<T>(), weights.defined() ? weights.const_data_ptr<sum_of<T>>() : nullptr,
        rows.mutable_data_ptr<T>());
  });
  return rows;
}

/// Returns the sums [slots / copies, W] of `rows` times `weights`, which may be undefined.
inline at::Tensor combined(at::Tensor const& rows, at::Tensor const& weights, at::Tensor const& slots,
                           std::int64_t copies) {
  std::int64_t const tokens = slots.numel() / copies;
  at::Tensor const y = at::empty({tokens, rows.size(1)}, rows.options());
  with_element(rows.scalar_type(), [&]<class T>(T) {
    routed_loop{slots.const_data_ptr<std::int64_t>(), tokens, copies, rows.size(1)}.combine(
        rows.const_data_ptr<T>(), weights.defined() ? weights.const_data_ptr<sum_of<T>>() : nullptr,
        y.mutable_data_ptr<T>());
  });
  return y;
}

/// The differentiable function kernel::spread_rows. Backward adds up the rows of each token.
struct spread_function : tensors::recorded_function<spread_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x, at::Tensor const& slots,
                            std::int64_t copies) {
    ctx->save_for_backward({tensors::save_as("slots", slots)});
    ctx->saved_data["copies"] = copies;
    return spread(x.contiguous(), {}, slots, copies);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    at::Tensor const slots = ctx->get_saved_variables()[0];
    std::int64_t const copies = ctx->saved_data["copies"].toInt();
    if (at::GradMode::is_enabled()) return {composed::combine_rows(g[0], {}, slots, copies), {}, {}};
    return {combined(g[0].contiguous(), {}, slots, copies), {}, {}};
  }
};

/// The differentiable function kernel::combine_rows.
struct combine_function : tensors::recorded_function<combine_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& rows,
                            std::optional<at::Tensor> const& weights, at::Tensor const& slots, std::int64_t copies) {
    ctx->saved_data["copies"] = copies;
    if (!weights) {
      ctx->save_for_backward({tensors::save_as("slots", slots)});
      return combined(rows.contiguous(), {}, slots, copies);
    }
    ctx->save_for_backward({tensors::save_as("slots", slots), rows, *weights});
    return combined(rows.contiguous(), weights->contiguous(), slots, copies);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const saved = ctx->get_saved_variables();
    at::Tensor const& slots = saved[0];
    std::int64_t const copies = ctx->saved_data["copies"].toInt();
    bool const weighted = saved.size() > 1;
    if (at::GradMode::is_enabled()) {
      if (!weighted) return {composed::spread_rows(g[0], slots, copies), {}, {}, {}};
      auto const found =
          composed::gradients_of([&](auto const& in) { return composed::combine_rows(in[0], in[1], slots, copies); },
                                 {saved[1], saved[2]}, g[0]);
      return {found[0], found[1], {}, {}};
    }
    at::Tensor const gradient = g[0].contiguous();
    if (!weighted) return {spread(gradient, {}, slots, copies), {}, {}, {}};
    at::Tensor const rows = saved[1].contiguous(), weights = saved[2].contiguous();
    at::Tensor drows, dweights;
    if (saved[1].requires_grad()) drows = spread(gradient, weights, slots, copies);
    if (saved[2].requires_grad()) {
      dweights = at::empty_like(weights);
      with_element(rows.scalar_type(), [&]<class T>(T) {
        routed_loop{slots.const_data_ptr<std::int64_t>(), gradient.size(0), copies, gradient.size(1)}.weight_gradient(
            rows.const_data_ptr<T>(), gradient.const_data_ptr<T>(), dweights.mutable_data_ptr<sum_of<T>>());
      });
    }
    return {drows, dweights, {}, {}};
  }
};

/// The differentiable function kernel::router_scores.
struct router_function : tensors::recorded_function<router_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x, at::Tensor const& weight) {
    ctx->save_for_backward({x, weight});
    return composed::router_scores(x, weight);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto const saved = ctx->get_saved_variables();
    if (at::GradMode::is_enabled())
      return composed::gradients_of([](auto const& in) { return composed::router_scores(in[0], in[1]); }, saved, g[0]);
    at::Tensor dx, dweight;
    if (saved[0].requires_grad()) dx = at::mm(g[0], composed::widened(saved[1])).to(saved[0].scalar_type());
    if (saved[1].requires_grad()) dweight = at::mm(g[0].t(), composed::widened(saved[0])).to(saved[1].scalar_type());
    return {dx, dweight};
  }
};

}  // namespace redco::kernel::cpu
