#pragma once

#include <redco/kernel/detail/grouped_function.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace redco::kernel::cuda {

/// Returns true if ATen's grouped product takes the factor `x`, [rows, features] or [experts, K,
/// N]. It must be bf16. Its rows or columns must have multiples of 16 bytes and begin at them.
inline bool grouped_product_takes(at::Tensor const& x) {
  constexpr std::int64_t bytes = 16, elements = 8;
  bool takes = x.scalar_type() == at::kBFloat16 && reinterpret_cast<std::uintptr_t>(x.const_data_ptr()) % bytes == 0;
  for (std::int64_t d = 0; d < x.dim(); ++d)
    takes = takes && (d == 0 || x.size(d) % elements == 0) && (x.stride(d) == 1 || x.stride(d) % elements == 0);
  return takes;
}

/// Products over the rows of each expert, by ATen operators. One operator computes all experts if
/// ATen's grouped product takes the factors; otherwise each expert with rows takes one operator.
class expert_products {
 public:
  /// Copies the ends of the experts' rows to `device`, without waiting for it.
  expert_products(std::vector<std::int64_t> offsets, at::Device device) : offsets_(std::move(offsets)) {
    std::vector<std::int32_t> const ends(offsets_.begin() + 1, offsets_.end());
    ends_ = at::tensor(ends, at::kInt).to(device, at::kInt, /*non_blocking=*/true);
  }

  /// Returns the rows of `a` [rows, K] times b[e] for the matrices `b` [experts, K, N]: [rows, N].
  at::Tensor of_rows(at::Tensor const& a, at::Tensor const& b) const {
    if (a.size(0) > 0 && grouped_product_takes(a) && grouped_product_takes(b)) return at::_grouped_mm(a, b, ends_);
    at::Tensor const y = at::empty({a.size(0), b.size(2)}, a.options());
    each_expert_with_rows([&](std::int64_t e, std::int64_t first, std::int64_t count) {
      at::Tensor to = y.narrow(0, first, count);
      at::mm_out(to, a.narrow(0, first, count), b[e]);
    });
    return y;
  }

  /// Returns a_e^T b_e of the rows of each expert, for `a` [rows, M] and `b` [rows, N]: [experts,
  /// M, N]. The product of an expert without rows is 0.
  at::Tensor over_rows(at::Tensor const& a, at::Tensor const& b) const {
    auto const experts = static_cast<std::int64_t>(offsets_.size()) - 1;
    if (a.size(0) == 0 || !grouped_product_takes(a) || !grouped_product_takes(b)) {
      at::Tensor const y = at::zeros({experts, a.size(1), b.size(1)}, a.options());
      each_expert_with_rows([&](std::int64_t e, std::int64_t first, std::int64_t count) {
        at::Tensor to = y[e];
        at::mm_out(to, a.narrow(0, first, count).t(), b.narrow(0, first, count));
      });
      return y;
    }
    at::Tensor const y = at::_grouped_mm(a.t(), b, ends_);
    // The operator does not promise to write the product of an expert without rows.
    for (std::int64_t e = 0; e < experts; ++e)
      if (count_of(e) == 0) y[e].zero_();
    return y;
  }

 private:
  std::int64_t count_of(std::int64_t e) const {
    auto const at = static_cast<std::size_t>(e);
    return offsets_[at + 1] - offsets_[at];
  }

  template <class F>
  void each_expert_with_rows(F const& f) const {
    for (std::int64_t e = 0; e + 1 < static_cast<std::int64_t>(offsets_.size()); ++e)
      if (count_of(e) > 0) f(e, offsets_[static_cast<std::size_t>(e)], count_of(e));
  }

  std::vector<std::int64_t> offsets_;
  at::Tensor ends_;  // int32 [experts] on the device
};

/// The differentiable function kernel::grouped_linear on CUDA devices. The number of operators does
/// not depend on the number of experts if ATen's grouped product takes the tensors.
struct grouped_linear_function : detail::grouped_function<grouped_linear_function> {
  static at::Tensor products(at::Tensor const& x, at::TensorList weights, std::vector<std::int64_t> const& offsets) {
    expert_products const of_experts(offsets, x.device());
    std::vector<at::Tensor> columns;
    for (at::Tensor const& weight : weights) columns.push_back(of_experts.of_rows(x, weight.transpose(1, 2)));
    return columns.size() == 1 ? columns[0] : at::cat(columns, 1);
  }

  static torch::autograd::variable_list gradients(torch::autograd::variable_list const& saved,
                                                  std::vector<std::int64_t> const& offsets, at::Tensor const& g) {
    torch::autograd::variable_list result(saved.size());
    expert_products const of_experts(offsets, saved[0].device());
    std::int64_t first = 0;
    for (std::size_t i = 1; i < saved.size(); first += saved[i++].size(1)) {
      at::Tensor const part = g.narrow(1, first, saved[i].size(1));
      if (saved[0].requires_grad()) {
        at::Tensor const dx = of_experts.of_rows(part, saved[i]);
        result[0] = i == 1 ? dx : result[0].add_(dx);
      }
      if (saved[i].requires_grad()) result[i] = of_experts.over_rows(part, saved[0]);
    }
    return result;
  }
};

}  // namespace redco::kernel::cuda
