#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/layer/activations.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace redco::pretrained {

/// A set of transformers' class names that may occur under "architectures" in the config.json of a
/// model family.
struct known_classes {
  /// Name of the transformers class whose computation redco reproduces
  std::string_view computed;
  /// Older names of the class `computed`, with the same weights.
  std::initializer_list<std::string_view> same_weights = {};
  /// Names of classes with the same base model that lack the head of the class `computed`, or whose
  /// head redco ignores.
  std::initializer_list<std::string_view> same_base = {};
};

/// Reads the key "architectures" of a config.json. Throws `error` with exit code 65 if none of the
/// listed classes is in `known`, because redco would then compute the wrong head.
inline void read_architectures(config_reader& c, known_classes const& known) {
  c.computes(known.computed);
  json::json_value const* const list = c.find("architectures");
  if (list == nullptr || says_nothing(*list)) return;
  auto const is_known = [&](json::json_value const& one) {
    auto const same = [&](std::string_view name) { return one == name; };
    return same(known.computed) || std::any_of(known.same_weights.begin(), known.same_weights.end(), same) ||
           std::any_of(known.same_base.begin(), known.same_base.end(), same);
  };
  if (!list->is_array() || std::none_of(list->begin(), list->end(), is_known))
    c.refuse(c.is("architectures", *list) + ", whose head is not computed here; " + std::string(known.computed) +
             " is, and the same model without its head");
}

/// Reads the keys of a config.json that all model families share. Keys that would change the
/// computation must have the one value that redco supports. Other keys with similar names are
/// marked unused.
inline void read_common_keys(config_reader& c, known_classes const& known, bool encoder_decoder = false) {
  read_architectures(c, known);
  c.only("is_encoder_decoder", encoder_decoder);
  c.only("is_decoder", false);
  c.only("add_cross_attention", false);
  c.only("pruned_heads", json::json_value::object());
  c.only("chunk_size_feed_forward", 0);
  c.only("torchscript", false);
  c.skip({"_num_labels",
          "output_attentions",
          "output_hidden_states",
          "attn_implementation",
          "_attn_implementation",
          "_attn_implementation_autoset",
          "_attn_implementation_internal",
          "use_flash_attn",
          "use_flash_attention",
          "use_flash_attention_2",
          "_flash_attn_2_enabled",
          "pad_token_id",
          "decoder_start_token_id",
          "task_specific_params",
          "problem_type",
          "no_repeat_ngram_size",
          "encoder_no_repeat_ngram_size",
          "cross_attention_hidden_size",
          "tie_encoder_decoder",
          "batch_size"});
}

/// Throws `error` with exit code 65 if the number of attention heads does not divide the model's
/// width.
inline void check_heads(config_reader const& c, std::int64_t width, std::int64_t heads) {
  if (width % heads != 0)
    c.refuse("a width of " + std::to_string(width) + " is not divisible by " + std::to_string(heads) +
             " heads; correct one of them");
}

/// Returns the standard deviation of initial weights from a config.json, by default 0.02.
inline double read_deviation(config_reader& c, std::string_view key = "initializer_range") {
  return c.real(key, 0.02, 0, 1);
}

/// Returns the activation function that a config.json names under `key`, by its Hugging Face name.
/// Returns `standard` if the key is absent.
inline layers::activation_kind read_activation(config_reader& c, std::string_view key,
                                               layers::activation_kind standard) {
  struct named_kind {
    std::string_view name;
    layers::activation_kind kind;
  };
  using enum layers::activation_kind;
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

/// Returns the dropout probability that a config.json has under all keys `names`. Throws `error`
/// with exit code 65 if the keys differ, because the model family has a single dropout.
inline double read_one_dropout(config_reader& c, std::initializer_list<std::string_view> names, double standard) {
  double const first = c.real(*names.begin(), standard, 0, 0.999);
  for (std::string_view const name : names)
    if (double const p = c.real(name, standard, 0, 0.999); p != first)
      c.refuse(c.is(name, p) + " and " + c.is(*names.begin(), first) +
               "; this family has one dropout: make them equal");
  return first;
}

/// Returns the number of classes of a classifier from its config.json: the size of id2label, else
/// num_labels, else 2.
inline std::int64_t read_classes(config_reader& c) {
  json::json_value const* const labels = c.find("id2label");
  std::int64_t named = 2;
  bool const has_labels = labels != nullptr && (labels->is_object() ? !labels->empty() : !says_nothing(*labels));
  if (has_labels) {
    if (!labels->is_object()) c.refuse("\"id2label\" names no label; write {\"0\": \"name\", ...}");
    named = static_cast<std::int64_t>(labels->size());
  }
  std::int64_t const classes = c.extent({"num_labels", "num_classes"}, named);
  if (has_labels && classes != named)
    c.refuse("\"id2label\" names " + std::to_string(named) + " labels and \"num_labels\" says " +
             std::to_string(classes) + "; correct one of them");
  return classes;
}

}  // namespace redco::pretrained
