#pragma once

#include <redco/comm/replica_round.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::kernel {

/// Returns (x - mean) / sqrt(variance + epsilon) * weight + bias over the last dimension. weight
/// and bias [features] may be undefined and may have another dtype than x. Computed in f32 for
/// bf16. Differentiable to any order.
///
/// Autograd saves x, weight, and the mean and 1 / deviation of each row (f32, f64 for f64). Throws
/// `error` with exit code 70 if weight or bias has another size.
at::Tensor layer_norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias, double epsilon);

/// Returns x / sqrt(mean(x^2) + epsilon) * (offset + weight) over the last dimension. weight
/// [features] may be undefined and may have another dtype than x; an undefined weight makes the
/// factor 1. Computed in f32 for bf16, also offset + weight. Differentiable to any order.
///
/// Autograd saves x, weight, and 1 / root mean square of each row (f32, f64 for f64). Throws
/// `error` with exit code 70 if weight has another size.
at::Tensor rms_norm(at::Tensor const& x, at::Tensor const& weight, double epsilon, double offset = 0);

/// Like rms_norm, for x and weight whose features are split over `ranks`: x / sqrt(sum(x^2) / count
/// + epsilon) * weight. The sum is over the last dimension of all ranks' parts. `count` is the
/// number of features on all ranks; features that several ranks hold count on each.
///
/// Sums one number per row over the ranks, in forward and in backward. Autograd saves x, weight,
/// and 1 / root mean square of each row. Differentiable to any order.
at::Tensor split_rms_norm(at::Tensor const& x, at::Tensor const& weight, double epsilon,
                          comm::replica_round const& ranks, double count);

/// Returns (x - mean) / sqrt(variance + epsilon) * (1 + scale) + shift over the last dimension of x
/// [B, T, features]. `modulation` [B, 1, 2 features] has scale, then shift, of each example.
/// Computed in f32 for bf16. Differentiable to any order.
///
/// Autograd saves x, `modulation`, and the mean and 1 / deviation of each row. Both inputs must
/// have one dtype.
at::Tensor modulated_layer_norm(at::Tensor const& x, at::Tensor const& modulation, double epsilon);

/// Returns x gate, for x [B, T, features] and the gate [B, 1, features] of each example. Autograd
/// saves both. Differentiable to any order.
at::Tensor gated(at::Tensor const& x, at::Tensor const& gate);

/// Mean and variance of each channel of a tensor [B, C, ...], over the examples of all replicas
/// that run a round of micro-batches together. Computed in f32, or f64 for f64 inputs.
struct batch_statistics {
  /// Mean and variance per channel, shape [C]. The variance is the biased one, divided by `count`.
  at::Tensor mean, variance;
  double count = 0;  ///< number of elements per channel over all replicas
};

/// Computes the channel statistics over `x` and over the tensors that the other replicas of the
/// round pass. Every replica must call it. First sums C + 1 elements over the replicas, then C
/// elements.
batch_statistics batch_statistics_of(at::Tensor const& x, comm::replica_round const& round);

/// Returns (x - mean) / sqrt(variance + epsilon) * weight + bias per channel. `statistics` must be
/// the result of batch_statistics_of for `x`. Autograd saves x, weight, bias and the statistics.
/// Backward sums 2 C elements over the replicas, so every replica must run it. Differentiable to
/// any order.
at::Tensor batch_norm(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                      batch_statistics const& statistics, comm::replica_round const& round, double epsilon);

/// Returns (x - mean) / sqrt(variance + epsilon) * weight + bias per channel, where mean and
/// variance are given constants. Used in evaluation.
at::Tensor batch_norm_with(at::Tensor const& x, at::Tensor const& weight, at::Tensor const& bias,
                           at::Tensor const& mean, at::Tensor const& variance, double epsilon);

}  // namespace redco::kernel

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/kernel/norms.inl.hpp>
#endif
