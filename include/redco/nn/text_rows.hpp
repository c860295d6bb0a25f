#pragma once

#include <redco/nn/context_entries.hpp>
#include <redco/nn/pass.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <string_view>

namespace redco::nn::detail {

/// Returns the entry `given` for layers, on `device`: padding, which has the position -1, has the
/// mask `real` instead. If positions on the CPU say that each row is one document, the result has
/// no positions, so that attention need not keep documents apart.
documents without_padding(documents const& given, at::Device device);

/// Returns the index of the first token of each token's text in all rows, int64 [B, T], for the
/// positions of tokens in their texts.
at::Tensor text_of_tokens(at::Tensor const& positions);

/// Sets the pass's members `real`, `text_lengths` and `own_text_lengths` for a call with the input
/// `x` [B, T, ...] and its `rows`. `in.real` is the call's key mask, which has priority. `limit`:
/// largest number of tokens of a text for which layers do not depend on the number; 0: none does.
/// Call after begin_tokens().
void begin_texts(pass& in, at::Tensor const& x, documents const& rows, std::int64_t limit);

/// Throws `error` with exit code 64 if the mesh axis cp or ep has several ranks. A rank then has
/// only a part of the gradients of its examples, which the operation `name` reads.
void refuse_partial_gradients(std::string_view name, pass const& in);

}  // namespace redco::nn::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/text_rows.inl.hpp>
#endif
