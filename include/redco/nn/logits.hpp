#pragma once

#include <redco/kernel/linear.hpp>
#include <redco/kernel/top_entries.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco {

/// The result of a language model: a handle to hidden states and output head instead of logits.
/// cross_entropy and sampling compute logits in chunks. `tensor()` computes all of them.
struct logits {
  /// Hidden states [B, T, width].
  redco::tensor<entered> hidden;
  /// Output head [rows of this shard, width]; the last shard is padded.
  at::Tensor weight;
  /// Bias of the head [rows of this shard]; may be undefined.
  at::Tensor bias;
  std::int64_t vocabulary = 0;
  /// Index in the vocabulary of this shard's first row.
  std::int64_t first_row = 0;
  group* tp = nullptr;

  /// Returns the unsharded logits [B, T, vocabulary] on every rank. Computes all of them.
  at::Tensor tensor() const {
    redco::tensor<split<-1>> const part(kernel::linear(hidden.local(), weight, bias));
    return gather<-1>(part, *tp).local().narrow(-1, 0, vocabulary);
  }

  /// Returns the k largest logits of each of the N = B T positions, without holding all logits in
  /// memory.
  kernel::largest_logits top(std::int64_t k) const {
    at::Tensor const rows = hidden.local().flatten(0, -2);
    return kernel::top_entries(rows, {weight, bias, vocabulary, first_row}, k, *tp);
  }

  /// Returns the handle of the last position only: hidden states [B, 1, width].
  logits last() const {
    logits one = *this;
    one.hidden = redco::tensor<entered>(hidden.local().narrow(1, hidden.local().size(1) - 1, 1));
    return one;
  }
};

}  // namespace redco
