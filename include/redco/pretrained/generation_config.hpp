#pragma once

#include <redco/pretrained/beam_options.hpp>
#include <redco/pretrained/generate_options.hpp>
#include <redco/pretrained/token_ids.hpp>
#include <redco/json/value_fwd.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redco {

/// How a model's folder says that it should be decoded, in Hugging Face's words.
struct generation_config {
  token_ids ids;
  beam_options search;        ///< with how many beams, and how they are judged; 1 beam: it asks for no search
  generate_options sampling;  ///< at temperature 0 where it asks for no draws

  // Lengths of prompt and continuation together. An encoder-decoder's prompt is its one start token.
  std::optional<std::int64_t> max_length;
  std::int64_t min_length = 0;
  std::optional<std::int64_t> max_new_tokens;  ///< goes before max_length

  std::vector<std::string> unused;  ///< keys that are there and change nothing here
  std::string source;               ///< the file, for errors

  /// Returns the options for prompts of `prompt` tokens; where neither length is given, at most
  /// `otherwise` new tokens.
  /// Errors: exit code 64 if max_length leaves no room after the prompt.
  beam_options search_behind(std::int64_t prompt, std::int64_t otherwise) const;
  generate_options sampling_behind(std::int64_t prompt, std::int64_t otherwise) const;
};

/// What a generation_config.json says; `whole` is false for a config.json, which has other keys too. Errors: exit code 65 for
/// what is no such file, and, with its name, for a key that is unknown or asks for what is not computed here.
generation_config generation_config_of(json::json_value const& config, std::string const& source, bool whole = true);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/pretrained/generation_config.inl.hpp>
#endif
