#pragma once

#include <redco/comm/collective_label.hpp>
#include <redco/comm/group.hpp>

#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::comm::detail {

/// A description of the rows of a parameter that several ranks share. Each sharer group (`sharers`
/// neighbouring ranks) holds equal copies of the rows from index `first` on.
struct shared_rows {
  group* ranks;
  std::int64_t sharers;
  std::int64_t first;

  /// Returns a copy of `x` in which the shared rows are summed over each sharer group. A single
  /// all_reduce serves all sharer groups: each one writes its rows into its own slice of a zero
  /// tensor.
  at::Tensor summed(at::Tensor const& x) const {
    at::Tensor const result = x.clone(at::MemoryFormat::Contiguous);
    at::Tensor const rows = result.narrow(0, first, result.size(0) - first);
    auto sizes = rows.sizes().vec();
    sizes.insert(sizes.begin(), ranks->size() / sharers);
    at::Tensor const all = at::zeros(sizes, rows.options());
    at::Tensor const own = all[ranks->rank() / sharers];
    own.copy_(rows);
    ranks->all_reduce(all);
    rows.copy_(own);
    return result;
  }
};

template <bool Sums>
at::Tensor take_shared(at::Tensor const& x, shared_rows const& which);

/// An autograd function for a parameter whose rows from index `first` on are shared: each group of
/// `sharers` neighbouring ranks holds equal copies of them. If `Sums` is true, forward sums these
/// rows over each such group, and backward passes gradients on unchanged. Otherwise forward returns
/// the parameter unchanged, and backward sums. Differentiable to any order. The group must outlive
/// the autograd graph.
template <bool Sums>
struct shared_rows_function : tensors::recorded_function<shared_rows_function<Sums>> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, at::Tensor const& x, std::int64_t ranks,
                            std::int64_t sharers, std::int64_t first) {
    context->saved_data["ranks"] = ranks;
    context->saved_data["sharers"] = sharers;
    context->saved_data["first"] = first;
    return Sums ? of(context).summed(x) : x;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list const& gradients) {
    return {take_shared<!Sums>(gradients[0], of(context)), {}, {}, {}};
  }

 private:
  static shared_rows of(torch::autograd::AutogradContext* context) {
    auto const number = [context](char const* name) { return context->saved_data[name].toInt(); };
    return {reinterpret_cast<group*>(number("ranks")), number("sharers"), number("first")};
  }
};

template <bool Sums>
at::Tensor take_shared(at::Tensor const& x, shared_rows const& which) {
  collective_label const label("shared");
  if (!at::GradMode::is_enabled() || !x.requires_grad()) return Sums ? which.summed(x) : x;
  return shared_rows_function<Sums>::apply(x, static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(which.ranks)),
                                           which.sharers, which.first);
}

}  // namespace redco::comm::detail
