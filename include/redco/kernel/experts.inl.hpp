#pragma once

#include <redco/kernel/experts.hpp>

#include <redco/kernel/composed/experts.hpp>
#include <redco/kernel/cpu/grouped_linear.hpp>
#include <redco/kernel/cpu/routed_rows.hpp>
#include <redco/kernel/cuda/grouped_linear.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

namespace redco::kernel::detail {

/// Adds the scalar of with_extra_loss() to the loss: a function of both tensors whose gradient for
/// the scalar is 1.
struct extra_loss_function : tensors::recorded_function<extra_loss_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& y, at::Tensor const& extra) {
    ctx->saved_data["type"] = extra.scalar_type();
    return y.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    return {g[0], at::ones({}, g[0].options().dtype(ctx->saved_data["type"].toScalarType()))};
  }
};

/// The differentiable function kernel::chosen_columns.
struct chosen_columns_function : tensors::recorded_function<chosen_columns_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x, at::Tensor const& chosen) {
    ctx->save_for_backward({tensors::save_as("experts", chosen)});
    ctx->saved_data["columns"] = x.size(1);
    return x.gather(1, chosen);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    at::Tensor const chosen = ctx->get_saved_variables()[0];
    return {at::zeros({chosen.size(0), ctx->saved_data["columns"].toInt()}, g[0].options()).scatter(1, chosen, g[0]),
            {}};
  }
};

/// Throws `error` with exit code 70 unless the arguments of grouped_linear() fit together.
inline void check_grouped(at::Tensor const& x, std::vector<at::Tensor> const& weights, expert_offsets const& offsets) {
  bool const fits = x.dim() == 2 && !weights.empty() && weights.size() <= cpu::grouped_problem<float>::most_weights &&
                    offsets.size() > 1 && offsets.front() == 0 && offsets.back() == x.size(0) &&
                    std::is_sorted(offsets.begin(), offsets.end()) &&
                    std::all_of(weights.begin(), weights.end(), [&](at::Tensor const& weight) {
                      return weight.dim() == 3 && weight.size(2) == x.size(1) &&
                             weight.size(0) == static_cast<std::int64_t>(offsets.size()) - 1 &&
                             weight.scalar_type() == x.scalar_type();
                    });
  if (fits) return;
  throw error(exit_code::internal,
              "grouped_linear of rows " + tensors::describe(x) + " and weights " +
                  (weights.empty() ? "none" : tensors::describe(weights.front())) + ": give 1 to " +
                  std::to_string(cpu::grouped_problem<float>::most_weights) +
                  " weights [experts, out, in] of the rows' dtype, and rising offsets, one more than experts, that end "
                  "at the number of rows");
}

}  // namespace redco::kernel::detail

namespace redco::kernel {

REDCO_INLINE at::Tensor grouped_linear(at::Tensor const& x, std::vector<at::Tensor> const& weights,
                                       expert_offsets const& offsets) {
  detail::check_grouped(x, weights, offsets);
  auto const with = [&]<class Function>(Function) {
    std::vector<at::Tensor> dense;
    for (at::Tensor const& weight : weights) dense.push_back(weight.contiguous());
    return Function::apply(x.contiguous(), at::TensorList(dense), offsets);
  };
  return detail::dispatch(
      x, [&] { return with(cuda::grouped_linear_function{}); }, [&] { return with(cpu::grouped_linear_function{}); },
      [&] { return composed::grouped_linear(x, weights, offsets); });
}

REDCO_INLINE at::Tensor spread_rows(at::Tensor const& x, at::Tensor const& slots, std::int64_t copies) {
  return detail::dispatch(
      x, [&] { return cpu::spread_function::apply(x, slots, copies); },
      [&] { return composed::spread_rows(x, slots, copies); });
}

REDCO_INLINE at::Tensor combine_rows(at::Tensor const& rows, at::Tensor const& weights, at::Tensor const& slots,
                                     std::int64_t copies) {
  std::optional<at::Tensor> some;
  if (weights.defined()) some = weights;
  return detail::dispatch(
      rows, [&] { return cpu::combine_function::apply(rows, some, slots, copies); },
      [&] { return composed::combine_rows(rows, weights, slots, copies); });
}

REDCO_INLINE at::Tensor router_scores(at::Tensor const& x, at::Tensor const& weight) {
  return detail::dispatch(
      x, [&] { return cpu::router_function::apply(x, weight); }, [&] { return composed::router_scores(x, weight); });
}

REDCO_INLINE at::Tensor chosen_columns(at::Tensor const& x, at::Tensor const& chosen) {
  return detail::chosen_columns_function::apply(x, chosen);
}

REDCO_INLINE at::Tensor with_extra_loss(at::Tensor const& y, at::Tensor const& extra) {
  if (!at::GradMode::is_enabled() || !extra.requires_grad()) return y;
  return detail::extra_loss_function::apply(y, extra);
}

}  // namespace redco::kernel
