#pragma once

#include <redco/text/padded_ids.hpp>
#include <redco/text/token_batch.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace redco {

/// Converts texts to a training batch of bytes: ids and labels [B, T], with T at most `context`.
/// The label of a byte is the next byte of its text. Shorter texts are right-padded with id 0 and
/// label -100.
token_batch next_token_batch(std::span<std::string const> texts, std::int64_t context);

}  // namespace redco

namespace redco::text {

/// Converts texts to prompts of bytes for generate(), from the last `most` bytes of each text.
/// Shorter texts are left-padded with id 0.
padded_ids prompt_ids(std::span<std::string const> texts, std::int64_t most);

/// Converts each row of byte ids [B, T], as generate() returns them, to a text without the left
/// padding. The first columns of `ids` are `prompts`; the other columns are generated.
std::vector<std::string> texts_of(at::Tensor const& ids, padded_ids const& prompts);

}  // namespace redco::text

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/text/next_token_batch.inl.hpp>
#endif
