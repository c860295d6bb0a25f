#pragma once

#include <redco/update/matrix.hpp>

#include <redco/tensor/torch.hpp>
#include <redco/optimizer/optimizer_description.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace redco::update {

/// A group of parameters that are updated alike, with gradients and optimizer state, in flat
/// buffers of equal length. A model has two segments: one with weight decay, and one without (norms
/// and biases). An optimizer with groups of parameters has more segments. Frozen parameters are in
/// no segment.
struct segment {
  /// Master parameters, f32 or f64, contiguous. The optimizer update changes them.
  at::Tensor param;
  /// Gradients of any floating dtype. They are sums over examples or tokens; the optimizer update
  /// divides them by the loss weight.
  at::Tensor grad;
  /// Tensors of optimizer state in the order of slots_of(), in the dtype of `param`. All are zero
  /// before the first update. Slots with one element per row or column are shorter than `param`.
  std::vector<at::Tensor> slots;
  /// bf16 copy of the parameters with which the model computes. The optimizer update writes it.
  /// Undefined if the model computes with `param` itself.
  at::Tensor compute;
  /// True if weight decay applies to these parameters.
  bool decay = true;
  double rate = 1;                          ///< Factor of the learning rate
  std::optional<double> weight_decay = {};  ///< Weight decay that replaces the optimizer's
  /// Parameters that the optimizer updates as a whole; then the segment has no others. Either all
  /// or none are matrices.
  std::vector<matrix> matrices = {};
};

/// Returns the names of the state slots of segment `s`.
template <class Description>
optimizer::slot_list slots_of(Description const& description, segment const& s) {
  bool const vectors = s.matrices.empty() || s.matrices.front().plan.fact.shape.rank < 2;
  return vectors ? optimizer::state_slots(description) : optimizer::matrix_slots(description);
}

/// Returns a segment (parameters that are updated alike) over the flat buffers `param` and `grad`.
/// Its optimizer state, as `description` requires, is zero. If `compute` is undefined, the model
/// computes with `param` itself. `matrices` is not empty if they are updated as a whole.
template <optimizer::optimizer_description Description>
segment make_segment(Description const& description, at::Tensor param, at::Tensor grad, bool decay,
                     at::Tensor compute = {}, std::vector<matrix> matrices = {}) {
  segment result{std::move(param), std::move(grad), {}, std::move(compute), decay};
  result.matrices = std::move(matrices);
  optimizer::slot_list const slots = slots_of(description, result);
  std::int64_t rows = 0, columns = 0;
  for (matrix& m : result.matrices) {
    if (m.plan.fact.shape.rank < 2) break;
    m.rows_begin = std::exchange(rows, rows + m.plan_of(optimizer::slot_form::rows).local().count());
    m.columns_begin = std::exchange(columns, columns + m.plan_of(optimizer::slot_form::columns).local().count());
  }
  for (int i = 0; i < slots.size(); ++i)
    result.slots.push_back(at::zeros({slots.form(i) == optimizer::slot_form::rows      ? rows
                                      : slots.form(i) == optimizer::slot_form::columns ? columns
                                                                                       : result.param.numel()},
                                     result.param.options()));
  return result;
}

}  // namespace redco::update
