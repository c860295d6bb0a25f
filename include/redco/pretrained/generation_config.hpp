#pragma once

#include <redco/pretrained/generate_options.hpp>
#include <redco/json/value_fwd.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redco::pretrained {

/// A set of ids of the tokens that begin, end and pad the texts of a model.
struct token_ids {
  /// Ids of the tokens that end a text; generation stops there.
  std::vector<std::int64_t> stop = {};
  /// Id that fills short rows at the right. If the file has none, the first id of `stop`.
  std::int64_t padding = 0;
  /// Id of the token that begins the decoder's input of an encoder-decoder model.
  std::optional<std::int64_t> start = {};
  std::int64_t forced_begin = -1;  ///< Id forced as the first token after `start`; -1 forces none
  /// Id forced as the last token of a text that reaches its maximum length; -1 forces none.
  std::int64_t forced_end = -1;
};

/// Returns the token ids that a generation_config.json or config.json names. Throws `error` with
/// exit code 65 for a value that is no id; the message has `source` and the key.
token_ids token_ids_of(json::json_value const& config, std::string const& source);

/// A set of decoding settings of a model's folder, with the names of Hugging Face's
/// generation_config.json.
struct generation_config {
  token_ids ids;
  /// Settings of beam search. `beams` is 1 if the file requests no beam search.
  beam_options search;
  /// Settings of sampling. `temperature` is 0 if the file requests no sampling.
  generate_options sampling;

  // Length limits of prompt and continuation together. The prompt of an encoder-decoder is its
  // single start token.
  std::optional<std::int64_t> max_length;
  std::int64_t min_length = 0;
  /// Maximum number of new tokens; if set, max_length has no effect.
  std::optional<std::int64_t> max_new_tokens;

  std::vector<std::string> unused;  ///< Keys of the file that have no effect in redco
  std::string source;               ///< Path of the file with these settings, for error messages

  /// Returns the options of beam search for prompts of `prompt` tokens. `otherwise` is the maximum
  /// number of new tokens if the file sets neither max_length nor max_new_tokens. Throws `error`
  /// with exit code 64 if max_length allows no token after the prompt.
  beam_options search_options(std::int64_t prompt, std::int64_t otherwise) const;
  generate_options sampling_options(std::int64_t prompt, std::int64_t otherwise) const;
};

/// Returns the decoding settings of a generation_config.json. If `whole` is false, reads them from
/// a config.json, in which other keys are allowed. Throws `error` with exit code 65 for invalid
/// files, and for keys that are unknown or request an unsupported computation; the message names
/// the key.
generation_config generation_config_of(json::json_value const& config, std::string const& source, bool whole = true);

}  // namespace redco::pretrained

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/pretrained/generation_config.inl.hpp>
#endif
