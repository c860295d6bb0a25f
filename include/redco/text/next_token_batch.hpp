#pragma once

#include <redco/text/padded_ids.hpp>
#include <redco/text/token_batch.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace redco {

/// Returns texts as bytes for training: ids and labels [B, T], T at most `context`. The label of a
/// byte is the byte after it. Shorter texts are right-padded with id 0 and label -100.
token_batch next_token_batch(std::span<std::string const> texts, std::int64_t context);

/// Returns the last `most` bytes of each text as prompts for generate. Shorter texts are
/// left-padded with id 0.
padded_ids prompt_ids(std::span<std::string const> texts, std::int64_t most);

/// Returns the bytes of each row of ids [B, T], without left padding. The first columns of `ids`
/// are `prompts`; the other columns are generated.
std::vector<std::string> texts_of(at::Tensor const& ids, padded_ids const& prompts);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/text/next_token_batch.inl.hpp>
#endif
