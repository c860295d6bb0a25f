#pragma once

#include <redco/text/padded_ids.hpp>
#include <redco/text/token_batch.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace redco {

/// Texts as bytes for training, each byte the label of the one before it: [B, T] with T at most `context`, shorter texts
/// right-padded with id 0 and label -100.
token_batch next_token_batch(std::span<std::string const> texts, std::int64_t context);

/// Texts as bytes without labels, prompts for generate: the last `most` bytes of each, shorter ones left-padded with id 0.
padded_ids prompt_ids(std::span<std::string const> texts, std::int64_t most);

/// The bytes of each row of ids [B, T], of which the first columns are `prompts` and the others what follows them,
/// without the padding on the left.
std::vector<std::string> texts_of(at::Tensor const& ids, padded_ids const& prompts);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/text/next_token_batch.inl.hpp>
#endif
