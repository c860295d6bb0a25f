#pragma once

#include <redco/comm/rank_context.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shard/entry.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <cstdint>

namespace redco::update::detail {

/// Returns a matrix with the singular vectors of `x` and singular values near 1, by `iterations`
/// steps of a quintic Newton-Schulz iteration in the dtype of `x`. Coefficients and the smallest
/// norm 1e-7 are those of torch.optim.Muon.
inline at::Tensor orthogonal(at::Tensor x, int iterations) {
  bool const tall = x.size(0) > x.size(1);
  if (tall) x = x.t();
  x = x / x.norm().clamp_min(1e-7);
  for (int i = 0; i < iterations; ++i) {
    at::Tensor const gram = x.mm(x.t());
    x = at::addmm(x, at::addmm(gram, gram, gram, -4.7750, 2.0315), x, 3.4445, 1);
  }
  return tall ? x.t() : x;
}

}  // namespace redco::update::detail

namespace redco::update {

/// A parameter in a segment, for optimizers that update a matrix or each parameter as a whole.
struct matrix {
  std::int64_t begin = 0;  ///< Offset in the segment's flat buffers, in elements
  shard::entry plan;       ///< Split of the parameter over the mesh
  int rank = 0;            ///< Rank that holds the part in the segment
  /// Offsets in the slots with one element per row, and in those with one per column
  std::int64_t rows_begin = 0, columns_begin = 0;

  /// Returns a view of this rank's part in the flat buffer `flat` of the segment, including
  /// padding.
  at::Tensor part(at::Tensor const& flat) const;

  /// Returns the plan of a slot of form `form`, and a view of this rank's part of the slot `flat`,
  /// including padding.
  shard::entry plan_of(optimizer::slot_form form) const {
    return form == optimizer::slot_form::whole ? plan : plan.without(optimizer::missing_dim(form));
  }
  at::Tensor slot(at::Tensor const& flat, optimizer::slot_form form) const;

  /// Returns the region of this rank's part, or of a tensor of its shape, without padding.
  at::Tensor held(at::Tensor part) const;

  /// Returns the elements of the whole matrix `whole` that this rank holds, as a view.
  at::Tensor own(at::Tensor whole) const;

  /// Returns the whole matrix without padding, gathered from the parts of all ranks that split it.
  /// These ranks must call it together. `on` may be null for a matrix that is not split. Throws
  /// `error` with exit code 70 if it is null for another matrix.
  at::Tensor gathered(at::Tensor part, rank_context* on) const;
};

}  // namespace redco::update

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/update/matrix.inl.hpp>
#endif
