#pragma once

#include <redco/nn/logits.hpp>
#include <redco/nn/pass.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/pretrained/generate_options.hpp>

#include <cstdint>

namespace redco::detail {

/// Returns the next token of each row, int64 [B], after `seen` [B, T], from the logits [B, 1] of
/// the `step`-th new token. A draw is keyed by (seed, update, step, global row), so meshes and
/// batch divisions do not change it.
at::Tensor next_tokens(logits const& from, at::Tensor const& seen, generate_options const& options, pass const& in,
                       std::int64_t step);

/// Returns the next token of each row, int64 [B], from unsharded logits [B, vocabulary].
at::Tensor drawn_tokens(at::Tensor const& whole, at::Tensor const& seen, generate_options const& options,
                        pass const& in, std::int64_t step);

/// Calls on_tokens with ids [B] on the first rank of the tensor-parallel group and returns its
/// result on all ranks. Returns true without on_tokens.
bool goes_on(at::Tensor const& ids, generate_options const& options, pass const& in);

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/generate/detail/next_tokens.inl.hpp>
#endif
