#pragma once

#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::comm {

/// A round: the micro-batches, one per replica, over which layers such as batch norm sum
/// statistics. If `gaps` is true, a replica may have no micro-batch left. The other replicas then
/// announce each sum before it begins, so that the replica without a micro-batch can add zeros.
struct replica_round {
  /// Group of the ranks that hold the same shard of the model in all replicas. Null if there is
  /// only one replica.
  group* ranks = nullptr;
  bool gaps = false;

  /// Returns the sum of the tensors `x` `[n]` over all replicas. Backward sums the gradients over
  /// the replicas too, because each replica's loss depends on every replica's tensor.
  /// Differentiable to any order.
  at::Tensor sum(at::Tensor const& x) const;

  /// Announces to the other replicas that this replica has finished the round. Does nothing if
  /// `gaps` is false.
  void finish() const;

  /// Takes part in a round in which this replica has no micro-batch. Adds zeros to each announced
  /// sum until the other replicas finish the round.
  void sit_out() const;
};

}  // namespace redco::comm

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/replica_round.inl.hpp>
#endif
