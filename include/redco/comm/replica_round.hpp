#pragma once

#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::comm {

/// One round of micro-batches, one on each replica: what layers that look at the whole batch sum over. Where some replica has
/// no micro-batch left (`gaps`), each sum is announced first, so that it can take part with zeros.
struct replica_round {
  group* ranks = nullptr;  ///< those that hold the same shard of the model; null: this replica alone
  bool gaps = false;

  /// The sum of the replicas' tensors [n]. Its gradient is the sum of their gradients, at any order: each replica's loss depends
  /// on every replica's tensor.
  at::Tensor sum(at::Tensor const& x) const;

  /// Says that this replica is through with the round.
  void finish() const;

  /// Takes part in a round without a micro-batch until the others finish.
  void sit_out() const;
};

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/replica_round.inl.hpp>
#endif
