#pragma once

#include <redco/comm/group.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <string_view>

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

/// Applies `Step`, a communication that is linear in `x`, along the tensor dimension `dim`.
/// Backward applies the dual communication as a differentiable call, so derivatives of any order
/// are correct.
template <class Step>
at::Tensor take_step(at::Tensor const& x, group& ranks, std::int64_t dim);

/// An autograd node of a communication `Step` that is linear in its tensor. Backward runs
/// Step::dual. The group must outlive the autograd graph.
template <class Step>
struct step_function : tensors::recorded_function<step_function<Step>> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, at::Tensor const& x, std::int64_t ranks,
                            std::int64_t dim) {
    context->saved_data["ranks"] = ranks;
    context->saved_data["dim"] = dim;
    return Step::run(x, *reinterpret_cast<group*>(ranks), dim);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list const& gradients) {
    auto& ranks = *reinterpret_cast<group*>(context->saved_data["ranks"].toInt());
    return {take_step<typename Step::dual>(gradients[0], ranks, context->saved_data["dim"].toInt()), {}, {}};
  }
};

template <class Step>
at::Tensor take_step(at::Tensor const& x, group& ranks, std::int64_t dim) {
  if (ranks.size() == 1) return x;
  collective_label const label(collective_label::current().empty() ? Step::label : collective_label::current());
  if (!at::GradMode::is_enabled() || !x.requires_grad()) return Step::run(x, ranks, dim);
  return step_function<Step>::apply(x, static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&ranks)), dim);
}

struct all_reduce_step;
struct slice_step;
struct reduce_scatter_step;

struct identity_step {
  using dual = all_reduce_step;
  static constexpr std::string_view label = "enter";
  static at::Tensor run(at::Tensor const& x, group&, std::int64_t) { return x; }
};

struct exchange_step {
  using dual = exchange_step;
  static constexpr std::string_view label = "exchange";
  static at::Tensor run(at::Tensor const& x, group& ranks, std::int64_t dim) { return ranks.all_to_all(x, dim, dim); }
};

struct all_reduce_step {
  using dual = identity_step;
  static constexpr std::string_view label = "reduce";
  static at::Tensor run(at::Tensor const& x, group& ranks, std::int64_t) { return ranks.all_reduced(x); }
};

struct gather_step {
  using dual = slice_step;
  static constexpr std::string_view label = "gather";
  static at::Tensor run(at::Tensor const& x, group& ranks, std::int64_t dim) { return ranks.all_gather(x, dim); }
};

/// A communication step that returns this rank's part along a dimension, without messages. The part
/// is a copy, so that the whole tensor can be freed. Its dual is an all-gather.
struct slice_step {
  using dual = gather_step;
  static constexpr std::string_view label = "scatter";
  static at::Tensor run(at::Tensor const& x, group& ranks, std::int64_t dim) { return ranks.part_of(x, dim).clone(); }
};

struct gather_entered_step {
  using dual = reduce_scatter_step;
  static constexpr std::string_view label = "all_gather_entered";
  static at::Tensor run(at::Tensor const& x, group& ranks, std::int64_t dim) { return ranks.all_gather(x, dim); }
};

struct reduce_scatter_step {
  using dual = gather_entered_step;
  static constexpr std::string_view label = "reduce_scatter";
  static at::Tensor run(at::Tensor const& x, group& ranks, std::int64_t dim) { return ranks.reduce_scatter(x, dim); }
};

}  // namespace redco::comm::detail
