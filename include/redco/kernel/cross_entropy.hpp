#pragma once

#include <redco/kernel/vocabulary_shard.hpp>

#include <redco/comm/group.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::kernel {

/// A loss summed over the labels that count, and how many those are.
struct vocabulary_loss {
  at::Tensor sum;  ///< scalar in f32 (f64 for f64), equal on all ranks
  std::int64_t count = 0;
};

/// How cross_entropy works.
struct cross_entropy_options {
  std::int64_t ignored = -100;     ///< rows with this label count nothing
  std::int64_t chunk_rows = 1024;  ///< rows whose logits exist at once
};

/// The cross entropy of labels [N] under the logits hidden [N, d] x weight^T + bias, whose columns are spread over the
/// ranks. Logits exist for chunk_rows rows at a time; each chunk costs one all_reduce(max) of [rows] and one
/// all_reduce(sum) of [2 rows]. The gradients that are wanted are made in the same pass, for an incoming gradient of 1.
///
/// The gradient of hidden is this shard's part of a pending sum: hidden must have entered. Saved for backward: hidden,
/// weight, bias, labels, and one gradient each of hidden, weight and bias in their own shape and type, where they
/// require one; nothing where none does. Weight and bias gradients are summed in f32 (f64 for f64). Workspace:
/// [chunk_rows, columns] in hidden's type and [3 chunk_rows] f32, and a f32 weight gradient for bf16. Under
/// create_graph backward is made of differentiable operators and holds all logits. `ranks` must outlive the graph; its
/// ranks call this together. Throws redco::error: 65 for a label outside the vocabulary, 70 where shapes and types do
/// not fit.
vocabulary_loss cross_entropy(at::Tensor const& hidden, vocabulary_shard const& head, at::Tensor const& labels,
                              group& ranks, cross_entropy_options const& options = {});

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/cross_entropy.inl.hpp>
#endif
