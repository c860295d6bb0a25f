#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/layer/attention_traits.hpp>

#include <cstdint>

namespace redco::kernel {

/// Returns the rows [B, T, width] of a vocabulary table for int64 ids [B, T]. `table` [rows, width]
/// is this rank's shard; its first row is row `first_row` of the whole table of `vocabulary` rows.
/// Ids of other shards give zeros. The row of the id `padding` gets no gradient.
///
/// Autograd saves only the ids relative to the shard. Throws `error` with exit code 65 for an id
/// outside the vocabulary.
at::Tensor lookup(at::Tensor const& table, at::Tensor const& ids, std::int64_t first_row, std::int64_t vocabulary,
                  std::int64_t padding = -1);

/// A description of the columns that `rotate` rotates. They are the first `heads` heads of
/// `head_dim` columns in each row.
struct rotation {
  std::int64_t heads = 1;
  std::int64_t head_dim = 1;
  layers::rotary_angles angles = {};
  std::int64_t first = 0;  ///< position of row 0, used if no tensor of positions is given
};

/// Returns true if frequencies of texts of more than `s.context` tokens depend on the number of
/// tokens.
constexpr bool depends_on_length(layers::rotary_scaling const& s) {
  return s.kind == layers::rotary_kind::dynamic || s.kind == layers::rotary_kind::longrope;
}

/// Returns x [B, T, columns] with its heads rotated by their positions (Su et al. 2021).
/// `positions` is int64 [B or 1, T]; if undefined, row t has the position by.first + t. `lengths`,
/// int64 [B or 1, T or 1], is the number of tokens of each token's text, at most by.first + T.
/// Frequencies that depend on a length take it; if undefined, they take by.first + T.
///
/// May modify x, so use only the result. Angles are computed in f64. Autograd saves only the
/// positions and the lengths. Differentiable to any order.
at::Tensor rotate(at::Tensor const& x, rotation const& by, at::Tensor const& positions = {},
                  at::Tensor const& lengths = {});

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/embeddings.inl.hpp>
#endif
