#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>

#include <redco/layer/activation_kind.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace redco {

/// The keys that every family has: bookkeeping, generation and ids are skipped, what would change the model is refused.
/// `architecture` is the only class of the family that is planned.
inline void read_common_keys(config_reader& c, std::string_view architecture, bool encoder_decoder = false) {
  if (json::json_value const* const list = c.find("architectures"); list != nullptr) {
    bool has = false;
    if (list->is_array())
      for (json::json_value const& one : *list) has = has || one == architecture;
    if (!has) c.refuse(c.is("architectures", *list) + "; only " + std::string(architecture) + " is supported");
  }
  c.only("is_encoder_decoder", encoder_decoder);
  c.only("is_decoder", false);
  c.only("add_cross_attention", false);
  c.only("pruned_heads", json::json_value::object());
  c.only("chunk_size_feed_forward", 0);
  c.only("torchscript", false);
  c.skip({"_name_or_path",
          "_attn_implementation_autoset",
          "transformers_version",
          "torch_dtype",
          "dtype",
          "use_cache",
          "bos_token_id",
          "eos_token_id",
          "pad_token_id",
          "sep_token_id",
          "cls_token_id",
          "decoder_start_token_id",
          "tokenizer_class",
          "task_specific_params",
          "output_attentions",
          "output_hidden_states",
          "output_scores",
          "return_dict",
          "return_dict_in_generate",
          "id2label",
          "label2id",
          "problem_type",
          "prefix",
          "finetuning_task",
          "max_length",
          "min_length",
          "do_sample",
          "early_stopping",
          "num_beams",
          "num_beam_groups",
          "diversity_penalty",
          "temperature",
          "top_k",
          "top_p",
          "typical_p",
          "repetition_penalty",
          "length_penalty",
          "no_repeat_ngram_size",
          "encoder_no_repeat_ngram_size",
          "bad_words_ids",
          "num_return_sequences",
          "forced_bos_token_id",
          "forced_eos_token_id",
          "remove_invalid_values",
          "exponential_decay_length_penalty",
          "suppress_tokens",
          "begin_suppress_tokens",
          "cross_attention_hidden_size",
          "tie_encoder_decoder"});
}

/// Refuses heads that do not divide the width.
inline void check_heads(config_reader const& c, std::int64_t width, std::int64_t heads) {
  if (width % heads != 0)
    c.refuse("a width of " + std::to_string(width) + " is not divisible by " + std::to_string(heads) +
             " heads; correct one of them");
}

/// The deviation that weights start from.
inline double read_deviation(config_reader& c, std::string_view key = "initializer_range") {
  return c.real(key, 0.02, 0, 1);
}

/// The activation function that a key names, under the names of Hugging Face transformers.
inline activation_kind read_activation(config_reader& c, std::string_view key, activation_kind standard) {
  struct named_kind {
    std::string_view name;
    activation_kind kind;
  };
  using enum activation_kind;
  constexpr named_kind known[] = {{"gelu", gelu},           {"gelu_python", gelu},
                                  {"gelu_new", gelu_tanh},  {"gelu_pytorch_tanh", gelu_tanh},
                                  {"gelu_fast", gelu_tanh}, {"quick_gelu", quick_gelu},
                                  {"relu", relu},           {"silu", silu},
                                  {"swish", silu},          {"tanh", tanh}};
  json::json_value const* const value = c.find(key);
  if (value == nullptr) return standard;
  for (named_kind const& one : known)
    if (*value == one.name) return one.kind;
  std::string list;
  for (named_kind const& one : known) list += (list.empty() ? "" : ", ") + std::string(one.name);
  c.refuse(c.is(key, *value) + ", which is not supported; supported are " + list);
}

/// The probability that all of `names` give; families here have one where a config.json names several.
inline double read_one_dropout(config_reader& c, std::initializer_list<std::string_view> names, double standard) {
  double const first = c.real(*names.begin(), standard, 0, 0.999);
  for (std::string_view const name : names)
    if (double const p = c.real(name, standard, 0, 0.999); p != first)
      c.refuse(c.is(name, p) + " and " + c.is(*names.begin(), first) +
               "; this family has one dropout: make them equal");
  return first;
}

}  // namespace redco
