#pragma once

#include <redco/tokenizer/any_tokenizer.hpp>

#include <redco/diag/error.hpp>

#include <filesystem>

namespace redco {

/// The tokenizer of a model's folder: tokenizer.json, else tokenizer.model or spiece.model (SentencePiece), which also
/// count where tokenizer.json is their Unigram model written down once more (T5). Which tokens begin, end and pad a
/// text is read from tokenizer_config.json, where there is one; for SentencePiece also whether they are put around it,
/// else as LLaMA-2 does for tokenizer.model (begin) and T5 for spiece.model (end).
///
/// Errors: exit_code::data when there is none of these files, and those of json_tokenizer and sentencepiece_tokenizer.
any_tokenizer read_tokenizer(std::filesystem::path const& folder);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tokenizer/read_tokenizer.inl.hpp>
#endif
