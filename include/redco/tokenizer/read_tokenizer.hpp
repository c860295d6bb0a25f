#pragma once

#include <redco/tokenizer/tokenizer.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>

namespace redco {

/// Returns the tokenizer of a model's folder. Uses the first of these that exists: tokenizer.json;
/// tokenizer.model or spiece.model (SentencePiece); vocab.json with merges.txt (GPT-2, OPT,
/// RoBERTa, BART, Qwen2); vocab.txt (BERT).
///
/// Applies the settings of tokenizer_config.json, special_tokens_map.json and added_tokens.json as
/// transformers does; README.md lists them. Throws `error` with exit code 65 if the folder has none
/// of these files, if files contradict each other, or if the tokenizer class is not supported
/// (CodeLlamaTokenizer).
tokenizer::any_tokenizer read_tokenizer(std::filesystem::path const& folder);

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tokenizer/read_tokenizer.inl.hpp>
#endif
