#pragma once

#include <redco/kernel/cpu/computes.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/tensor/without_dispatch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace redco::kernel::cpu {

/// A task on a range of elements: to = base + factor x, rounded once as ATen does. If `base` is
/// null, to = factor x.
template <class T>
struct scaled_sum {
  T const* base;
  T const* x;
  T factor;
  T* to;
  std::int64_t n;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    if (base == nullptr)
      for (std::int64_t i = 0; i < n; ++i) to[i] = factor * x[i];
    else
      for (std::int64_t i = 0; i < n; ++i) to[i] = std::fma(factor, x[i], base[i]);
  }
};

/// Returns uninitialised tensors with the sizes of the tensors `all`, adjacent in one buffer. For
/// an undefined tensor, the result is undefined.
inline std::vector<at::Tensor> empty_side_by_side(std::vector<at::Tensor> const& all, at::ScalarType type) {
  std::int64_t size = 0;
  for (at::Tensor const& one : all)
    if (one.defined()) size += one.numel();
  at::Tensor const flat = tensors::empty_on_cpu({size}, type);
  std::vector<at::Tensor> parts(all.size());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].defined()) continue;
    c10::Storage storage = flat.storage();
    parts[i] = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), flat.key_set(), flat.dtype());
    parts[i].unsafeGetTensorImpl()->set_sizes_contiguous(all[i].sizes());
    parts[i].unsafeGetTensorImpl()->set_storage_offset(begin);
    begin += all[i].numel();
  }
  return parts;
}

/// Returns base + factor x for each tensor x of `all` and its base, or factor x if `bases` is null.
/// For an undefined x, the result is undefined.
inline std::vector<at::Tensor> scaled_sums(std::vector<at::Tensor> const* bases, std::vector<at::Tensor> const& all,
                                           double factor, at::ScalarType type) {
  std::vector<at::Tensor> const sums = empty_side_by_side(all, type);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].defined()) continue;
    at::Tensor const x = all[i].contiguous(), base = bases != nullptr ? (*bases)[i].contiguous() : at::Tensor();
    with_real(type, [&](auto zero) {
      using T = decltype(zero);
      with_lanes<float>(scaled_sum<T>{base.defined() ? base.const_data_ptr<T>() : nullptr, x.const_data_ptr<T>(),
                                      static_cast<T>(factor), sums[i].mutable_data_ptr<T>(), x.numel()});
    });
  }
  return sums;
}

/// The autograd node of a gradient step p - rate g. Backward passes the incoming gradient to p, and
/// -rate times that gradient to g.
struct gradient_step_node final : torch::autograd::Node {
  double rate = 0;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override;
  std::string name() const override { return "gradient_step"; }
};

inline torch::autograd::variable_list gradient_step_node::apply(torch::autograd::variable_list&& gradients) {
  torch::autograd::variable_list all = std::move(gradients), scaled;
  auto const first = std::ranges::find_if(all, [](at::Tensor const& one) { return one.defined(); });
  if (first == all.end()) {
    scaled.resize(all.size());
  } else if (at::GradMode::is_enabled()) {  // ATen records higher derivatives
    for (at::Tensor const& one : all) scaled.push_back(one.defined() ? one * -rate : one);
  } else {
    scaled = scaled_sums(nullptr, all, -rate, first->scalar_type());
  }
  all.insert(all.end(), scaled.begin(), scaled.end());
  return all;
}

/// Returns p - rate g for each parameter p and its gradient g, or p itself if g is undefined. All
/// parameters and gradients must have one dtype, f32 or f64.
inline std::vector<at::Tensor> gradient_step(std::vector<at::Tensor> const& parameters,
                                             std::vector<at::Tensor> const& gradients, double rate) {
  std::vector<at::Tensor> next = scaled_sums(&parameters, gradients, -rate, parameters.front().scalar_type());
  bool recorded = false;
  for (std::size_t i = 0; i < next.size(); ++i)
    recorded = recorded || (next[i].defined() && tensors::is_recorded(parameters[i], gradients[i]));
  if (recorded) {
    auto const node = tensors::recorded_node<gradient_step_node>(parameters, gradients);
    node->rate = rate;
    torch::autograd::set_history(next, node);
  }
  for (std::size_t i = 0; i < next.size(); ++i)
    if (!next[i].defined()) next[i] = parameters[i];
  return next;
}

}  // namespace redco::kernel::cpu
