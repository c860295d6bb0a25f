#pragma once

#include <redco/nn/logits.hpp>
#include <redco/nn/pass.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/pretrained/generate_options.hpp>

#include <cstdint>

namespace redco::detail {

/// The next token of each row, int64 [B], behind `seen` [B, T], from the logits [B, 1] of the `step`-th new one. A draw is
/// keyed by (seed, update, step, global row), so every mesh and every division into batches draws the same.
at::Tensor next_tokens(logits const& from, at::Tensor const& seen, generate_options const& options, pass const& in,
                       std::int64_t step);

/// The same from unsharded logits [B, vocabulary].
at::Tensor drawn_tokens(at::Tensor const& whole, at::Tensor const& seen, generate_options const& options,
                        pass const& in, std::int64_t step);

/// What on_tokens of the group's first rank answers to ids [B]; true without it.
bool goes_on(at::Tensor const& ids, generate_options const& options, pass const& in);

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/generate/detail/next_tokens.inl.hpp>
#endif
