#pragma once

#include <redco/text/token_batch.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace redco {

/// Texts as bytes, each byte the label of the one before it: [B, T] with T at most `context`, shorter texts padded at
/// the end with id 0 and label -100.
token_batch next_token_batch(std::span<std::string const> texts, std::int64_t context);

/// Texts as bytes without labels, cut at the end to the shortest: prompts for generate.
at::Tensor prompt_ids(std::span<std::string const> texts);

/// The bytes of each row of ids [B, T].
std::vector<std::string> texts_of(at::Tensor const& ids);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/text/impl/next_token_batch.hpp>
#endif
