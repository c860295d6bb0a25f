#pragma once

#include <redco/nn/pass.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <vector>

namespace redco::nn::detail {

/// Returns this rank's tokens of `x` [B, T, ...], or `x` if the call does not divide sequences.
/// Padding tokens have the value `padding`. Not for tensors that need gradients of other ranks.
at::Tensor own_tokens(at::Tensor const& x, pass const& in, std::int64_t padding = 0);

/// Returns the tokens [B, T, ...] of all ranks for this rank's `x` [B, t, ...], or `x` if the call
/// does not divide sequences. Later computation must be equal on all ranks, because backward
/// returns this rank's part of its gradient.
at::Tensor all_tokens(at::Tensor const& x, comm::group* cp, shape::sequence_part const& tokens);

/// Exchanges features for tokens (Jacobs et al. 2023, DeepSpeed Ulysses). `x` [B, t, features] has
/// adjacent blocks of `sizes` features. Returns this rank's equal part of each block, for all
/// tokens: [B, T, features / ranks].
at::Tensor heads_of_all_tokens(at::Tensor const& x, std::vector<std::int64_t> const& sizes, pass const& in);

/// Reverses heads_of_all_tokens() for a single block: [B, T, features / ranks] becomes [B, t,
/// features]. Padding tokens are 0.
at::Tensor all_heads_of_tokens(at::Tensor const& x, pass const& in);

/// Prepares the pass `in` of a call with input `x` and returns this rank's part of `x`. Divides the
/// token ids [B, T] over the ranks `in.cp`; does nothing if that is null. `positions` [B, T] are
/// those that the call sets; if undefined, a token's position is its index. Throws `error` with
/// exit code 64 if the model does not divide sequences (`divides` is false) and if `x` are no token
/// ids.
at::Tensor begin_tokens(pass& in, at::Tensor const& x, at::Tensor const& positions, bool divides);

}  // namespace redco::nn::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/token_parts.inl.hpp>
#endif
