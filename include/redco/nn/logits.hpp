#pragma once

#include <redco/kernel/linear.hpp>
#include <redco/kernel/top_entries.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco {

/// What a language model gives: hidden states and head, not logits. cross_entropy and sampling consume it in chunks;
/// `tensor()` makes all logits for who asks.
struct logits {
  redco::tensor<entered> hidden;  ///< [B, T, width]
  at::Tensor weight;              ///< [rows of this shard, width], the last shard padded
  at::Tensor bias;                ///< [rows of this shard]; may be undefined
  std::int64_t vocabulary = 0;
  std::int64_t first_row = 0;  ///< of this shard
  group* tp = nullptr;

  /// The unsharded logits [B, T, vocabulary], on every rank.
  at::Tensor tensor() const {
    redco::tensor<split<-1>> const part(kernel::linear(hidden.local(), weight, bias));
    return gather<-1>(part, *tp).local().narrow(-1, 0, vocabulary);
  }

  /// The k largest of each position, N = B T rows, without holding all others at once.
  kernel::largest_logits top(std::int64_t k) const {
    at::Tensor const rows = hidden.local().flatten(0, -2);
    return kernel::top_entries(rows, {weight, bias, vocabulary, first_row}, k, *tp);
  }

  /// The handle of the last position only: [B, 1, width].
  logits last() const {
    logits one = *this;
    one.hidden = redco::tensor<entered>(hidden.local().narrow(1, hidden.local().size(1) - 1, 1));
    return one;
  }
};

}  // namespace redco
