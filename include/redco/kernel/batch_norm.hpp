#pragma once

#include <redco/comm/replica_round.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Statistics of each channel of [B, C, ...] over all replicas of a round, in at least f32.
struct batch_statistics {
  at::Tensor mean, variance;  ///< [C]; the variance divides by count
  double count = 0;           ///< elements of a channel
};

/// The statistics of x and of what the other replicas call this with; two messages of C + 1 and C elements.
batch_statistics batch_statistics_of(at::Tensor const& x, comm::replica_round const& round);

/// (x - mean) / sqrt(variance + epsilon) weight + bias by channel, for the statistics of x over the round. Autograd saves x,
/// weight and the statistics; backward sums 2 C elements over the replicas. Differentiable at any order.
at::Tensor batch_norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                      batch_statistics const& statistics, comm::replica_round const& round, double epsilon);

/// The same with statistics that do not depend on x: evaluation.
at::Tensor batch_norm_with(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                           at::Tensor const& mean, at::Tensor const& variance, double epsilon);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/batch_norm.inl.hpp>
#endif
