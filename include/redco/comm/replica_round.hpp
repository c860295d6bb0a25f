#pragma once

#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::comm {

/// A round of micro-batches, one per replica, over which layers with batch statistics sum. If some
/// replica has no micro-batch left (`gaps`), the other replicas announce each sum first. The
/// replica without a micro-batch then takes part with zeros.
struct replica_round {
  /// Ranks that hold the same shard of the model; null if there is one replica only.
  group* ranks = nullptr;
  bool gaps = false;

  /// Returns the sum of the replicas' tensors `[n]`. Its gradient is the sum of the replicas'
  /// gradients, at any order of derivative, because each replica's loss depends on every replica's
  /// tensor.
  at::Tensor sum(at::Tensor const& x) const;

  /// Announces that this replica has finished the round. Does nothing if there are no `gaps`.
  void finish() const;

  /// Takes part in a round without a micro-batch: adds zeros to each announced sum until the other
  /// replicas finish.
  void sit_out() const;
};

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/replica_round.inl.hpp>
#endif
