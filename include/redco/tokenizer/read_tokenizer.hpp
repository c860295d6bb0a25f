#pragma once

#include <redco/tokenizer/any_tokenizer.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>

namespace redco {

/// Returns the tokenizer of a model's folder: tokenizer.json; else tokenizer.model or spiece.model
/// (SentencePiece); else vocab.json with merges.txt (GPT-2, OPT, RoBERTa, BART, Qwen2) or vocab.txt
/// (BERT).
///
/// What transformers lays over tokenizer.json is laid over it here (see README.md): tokens of
/// tokenizer_config.json, special_tokens_map.json and added_tokens.json, add_prefix_space, legacy,
/// clean_up_tokenization_spaces, and the letters of BERT's classes. For SentencePiece the same
/// tokens are found in a text, add_prefix_space and legacy of LlamaTokenizer count, and
/// tokenizer_config.json says whether tokens are put around a text; else LLaMA-2's way holds for
/// tokenizer.model (begin) and T5's for spiece.model (end).
///
/// Errors: exit_code::data when there is none of these files, when they contradict each other, for
/// CodeLlamaTokenizer and other classes that are not computed, and
/// those of json_tokenizer and sentencepiece_tokenizer.
any_tokenizer read_tokenizer(std::filesystem::path const& folder);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tokenizer/read_tokenizer.inl.hpp>
#endif
