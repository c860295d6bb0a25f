#pragma once

#include <redco/comm/replica_round.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Mean and variance of each channel of a tensor [B, C, ...] over all replicas that run a round of
/// micro-batches. Kept in f32 or f64.
struct batch_statistics {
  at::Tensor mean, variance;  ///< shape [C]; the variance is divided by `count`
  double count = 0;           ///< number of elements per channel over all replicas
};

/// Computes the channel statistics of `x` and of the tensors that the other replicas of the round
/// pass. Every replica must call it. Sums C + 1 and then C elements over the replicas.
batch_statistics batch_statistics_of(at::Tensor const& x, comm::replica_round const& round);

/// Returns (x - mean) / sqrt(variance + epsilon) * weight + bias per channel. `statistics` must be
/// the statistics of `x` over the round. Autograd saves x, weight, bias and the statistics.
/// Backward sums 2 C elements over the replicas, so every replica must run it. Differentiable to
/// any order.
at::Tensor batch_norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                      batch_statistics const& statistics, comm::replica_round const& round, double epsilon);

/// Returns (x - mean) / sqrt(variance + epsilon) * weight + bias per channel, with constant
/// statistics. Used in evaluation.
at::Tensor batch_norm_with(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                           at::Tensor const& mean, at::Tensor const& variance, double epsilon);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/kernel/batch_norm.inl.hpp>
#endif
