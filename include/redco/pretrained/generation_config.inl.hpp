#pragma once

#include <redco/pretrained/generation_config.hpp>

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/json/value.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace redco::pretrained::detail {

/// Returns the token ids under a key of a JSON file. The key holds one id, a list of ids, or
/// nothing. Ignores the value -1, which means no id.
inline std::vector<std::int64_t> ids_under(json::json_value const& config, char const* key, std::string const& source) {
  std::vector<std::int64_t> ids;
  auto const add = [&](json::json_value const& value) {
    if (value == -1) return;  // LLaMA's first configurations write -1 for no id
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > INT32_MAX)
      throw error(exit_code::data, source + ": \"" + key + "\" is no id of a token; correct it");
    ids.push_back(value.get<std::int64_t>());
  };
  auto const at = config.find(key);
  if (at == config.end() || at->is_null()) return ids;
  if (at->is_array()) {
    for (json::json_value const& one : *at) add(one);
  } else {
    add(*at);
  }
  return ids;
}

}  // namespace redco::pretrained::detail

namespace redco::pretrained {

REDCO_INLINE token_ids token_ids_of(json::json_value const& config, std::string const& source) {
  if (!config.is_object()) throw error(exit_code::data, source + " is no JSON object; fetch it again");
  auto const one = [&](char const* key) -> std::optional<std::int64_t> {
    auto const ids = detail::ids_under(config, key, source);
    return ids.empty() ? std::nullopt : std::optional(ids.front());
  };
  token_ids found;
  found.stop = detail::ids_under(config, "eos_token_id", source);
  found.padding = one("pad_token_id").value_or(found.stop.empty() ? 0 : found.stop.front());
  found.start = one("decoder_start_token_id");
  found.forced_begin = one("forced_bos_token_id").value_or(-1);
  found.forced_end = one("forced_eos_token_id").value_or(-1);
  return found;
}

}  // namespace redco::pretrained

namespace redco::pretrained::detail {

/// Throws `error` with exit code 65 for decoding settings of a file that would change the generated
/// ids and that redco does not support.
inline void refuse_generation_keys(config_reader& c) {
  for (auto const name : {"num_return_sequences", "num_beam_groups"}) c.only(name, 1);
  for (auto const name : {"diversity_penalty", "epsilon_cutoff", "eta_cutoff"}) c.only(name, 0.0);
  for (auto const name : {"typical_p", "encoder_repetition_penalty", "guidance_scale"}) c.only(name, 1.0);
  for (auto const name : {"encoder_no_repeat_ngram_size"}) c.only(name, 0);
  for (auto const name : {"remove_invalid_values", "renormalize_logits", "token_healing", "is_assistant"})
    c.only(name, false);
  for (auto const name :
       {"bad_words_ids", "force_words_ids", "constraints", "suppress_tokens", "begin_suppress_tokens", "sequence_bias",
        "forced_decoder_ids", "exponential_decay_length_penalty", "stop_strings", "watermarking_config", "max_time",
        "penalty_alpha", "top_h", "low_memory", "dola_layers", "prompt_lookup_num_tokens", "assistant_early_exit"})
    c.only(name, nullptr);
  c.skip({"_from_model_config",
          "transformers_version",
          "use_cache",
          "cache_implementation",
          "cache_config",
          "return_legacy_cache",
          "output_attentions",
          "output_hidden_states",
          "output_scores",
          "output_logits",
          "return_dict_in_generate",
          "bos_token_id",
          "num_assistant_tokens",
          "num_assistant_tokens_schedule",
          "assistant_confidence_threshold",
          "max_matching_ngram_size",
          "assistant_lookbehind",
          "target_lookbehind",
          "compile_config",
          "disable_compile",
          "prefill_chunk_size"});
}

/// Reads the sampling settings of a generation_config.json. If do_sample is false, these settings
/// have no effect and are marked unused.
inline void read_draws(config_reader& c, generate_options& options) {
  if (!c.flag("do_sample", false)) return c.skip({"temperature", "top_k", "top_p", "min_p"});
  constexpr double most = 1e6;
  options.temperature = c.real("temperature", 1, 0, most);
  options.top_k = c.integer({"top_k"}, 50, 0);
  options.top_p = c.real("top_p", 1, 0, 1);
  options.min_p = c.real("min_p", 0, 0, 1);
}

inline beam_stop read_beam_stop(config_reader& c) {
  json::json_value const* const value = c.find("early_stopping");
  if (value == nullptr || *value == false) return beam_stop::when_unlikely;
  if (*value == true) return beam_stop::when_full;
  if (*value == "never") return beam_stop::when_impossible;
  c.refuse(c.is("early_stopping", *value) + "; write true, false or \"never\"");
}

inline std::optional<std::int64_t> read_length(config_reader& c, std::string_view name) {
  std::int64_t const found = c.integer({name}, -1, 0);
  return found < 0 ? std::nullopt : std::optional(found);
}

/// Returns `options` with max_new_tokens and min_new_tokens set for a prompt of `prompt` tokens,
/// from the limits in `c`. `otherwise` is the maximum number of new tokens if `c` has no limit.
/// Throws `error` with exit code 64 if the prompt already has "max_length" tokens.
template <class Options>
Options with_lengths(generation_config const& c, Options options, std::int64_t prompt, std::int64_t otherwise) {
  if (!c.max_new_tokens && c.max_length && *c.max_length <= prompt)
    throw error(exit_code::usage, c.source + ": \"max_length\" is " + std::to_string(*c.max_length) +
                                      ", prompt and new tokens together, but the prompt has " + std::to_string(prompt) +
                                      " tokens: give --max-new-tokens, or a larger \"max_length\"");
  options.max_new_tokens = c.max_new_tokens.value_or(c.max_length ? *c.max_length - prompt : otherwise);
  options.min_new_tokens = std::max(options.min_new_tokens, c.min_length - prompt);
  return options;
}

}  // namespace redco::pretrained::detail

namespace redco::pretrained {

REDCO_INLINE generation_config generation_config_of(json::json_value const& config, std::string const& source,
                                                    bool whole) {
  config_reader c(config, source);
  generation_config found;
  found.source = source;
  found.ids = token_ids_of(config, source);
  for (auto const name :
       {"eos_token_id", "pad_token_id", "decoder_start_token_id", "forced_bos_token_id", "forced_eos_token_id"})
    c.find(name);
  generate_options& g = found.sampling;
  beam_options& b = found.search;
  detail::read_draws(c, g);
  constexpr double most = 1e6;
  b.beams = c.extent({"num_beams"}, 1);
  if (b.beams > 1 && g.temperature > 0)
    c.refuse("\"num_beams\" with \"do_sample\" draws beams, which is not supported; remove one of them");
  b.length_penalty = c.real("length_penalty", 1, -most, most);
  b.stop = detail::read_beam_stop(c);
  b.repetition_penalty = g.repetition_penalty = c.real("repetition_penalty", 1, 0, most);
  b.no_repeat_ngram = g.no_repeat_ngram = c.integer({"no_repeat_ngram_size"}, 0, 0);
  b.min_new_tokens = g.min_new_tokens = c.integer({"min_new_tokens"}, 0, 0);
  b.stop_ids = g.stop_ids = found.ids.stop;
  b.forced_begin = g.forced_begin = found.ids.forced_begin;
  b.forced_end = g.forced_end = found.ids.forced_end;
  g.pad = found.ids.padding;
  // Transformers pads with `pad or eos`
  b.pad = g.pad != 0 || g.stop_ids.empty() ? g.pad : g.stop_ids.front();
  found.max_length = detail::read_length(c, "max_length");
  found.max_new_tokens = detail::read_length(c, "max_new_tokens");
  found.min_length = c.integer({"min_length"}, 0, 0);
  detail::refuse_generation_keys(c);
  if (whole) {
    c.refuse_unknown();
    found.unused = c.unused();
  }
  return found;
}

REDCO_INLINE beam_options generation_config::search_options(std::int64_t prompt, std::int64_t otherwise) const {
  return detail::with_lengths(*this, search, prompt, otherwise);
}

REDCO_INLINE generate_options generation_config::sampling_options(std::int64_t prompt, std::int64_t otherwise) const {
  return detail::with_lengths(*this, sampling, prompt, otherwise);
}

}  // namespace redco::pretrained
