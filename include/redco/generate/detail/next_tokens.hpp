#pragma once

#include <redco/nn/logits.hpp>
#include <redco/nn/pass.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/pretrained/generate_options.hpp>

#include <cstdint>

namespace redco::generation::detail {

/// Returns the next token of each row, int64 [B]. `from`: logits [B, 1] of the new token with index
/// `step`; `seen`: all tokens before it [B, T]. Random numbers depend only on (seed, update, step,
/// global row), so the mesh and the division into batches do not change the tokens.
at::Tensor next_tokens(logits const& from, at::Tensor const& seen, generate_options const& options, pass const& in,
                       std::int64_t step);

/// Returns the next token of each row, int64 [B], drawn from the unsharded logits `whole` [B,
/// vocabulary].
at::Tensor drawn_tokens(at::Tensor const& whole, at::Tensor const& seen, generate_options const& options,
                        pass const& in, std::int64_t step);

/// Calls the option `on_tokens` with the new ids [B], on the first rank of the tensor-parallel
/// group. Returns its result on all ranks of the group: false ends decoding. Returns true if the
/// option is not set.
bool goes_on(at::Tensor const& ids, generate_options const& options, pass const& in);

}  // namespace redco::generation::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/generate/detail/next_tokens.inl.hpp>
#endif
