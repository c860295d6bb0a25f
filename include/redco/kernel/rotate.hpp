#pragma once

#include <redco/layer/rotary_angles.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::kernel {

/// Which columns turn by how much: the first `heads` heads of `head_dim` columns each, in every row.
struct rotation {
  std::int64_t heads = 1;
  std::int64_t head_dim = 1;
  rotary_angles angles = {};
  std::int64_t first = 0;  ///< position of the first row where positions are not given
};

/// x [B, T, columns] with its heads turned by their positions (Su et al. 2021): rows are at rotation::first and behind it,
/// or at `positions` (int64 [B or 1, T]). May turn x itself: use the result only. Angles are made in f64. Nothing is saved but
/// positions; differentiable to any order.
at::Tensor rotate(at::Tensor const& x, rotation const& by, at::Tensor const& positions = {});

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/rotate.inl.hpp>
#endif
