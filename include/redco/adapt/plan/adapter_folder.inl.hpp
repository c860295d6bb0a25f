#pragma once

#include <redco/adapt/plan/adapter_folder.hpp>
#include <redco/adapt/plan/target_words.hpp>

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/glob.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

namespace redco::adapt {

REDCO_INLINE std::string adapter_config_text(lora_options const& adapters, std::span<adapter_location const> locations,
                                             save_adapter_options const& options) {
  std::set<std::string> modules;
  bool transposed = false;
  for (adapter_location const& location : locations)
    modules.insert(location.module), transposed = transposed || location.transposed;
  bool const whole = adapters.alpha == std::floor(adapters.alpha);
  json::json_value const alpha =
      whole ? json::json_value(static_cast<std::int64_t>(adapters.alpha)) : json::json_value(adapters.alpha);
  json::json_value config = {
      {"peft_type", "LORA"},       {"task_type", options.task},    {"base_model_name_or_path", nullptr},
      {"r", adapters.rank},        {"lora_alpha", alpha},          {"lora_dropout", adapters.dropout},
      {"target_modules", modules}, {"fan_in_fan_out", transposed}, {"bias", "none"},
      {"inference_mode", true}};
  if (!options.base.empty()) config["base_model_name_or_path"] = options.base;
  return json::dump_json(config, 2) + "\n";
}

}  // namespace redco::adapt

namespace redco::adapt::detail {

/// A key of PEFT's adapter_config.json that redco does not support, and a phrase for error
/// messages.
struct uncomputed_option {
  std::string_view key, phrase;
};
inline constexpr uncomputed_option uncomputed_options[] = {
    {"alora_invocation_tokens", "adapters that only act after some tokens (aLoRA)"},
    {"alpha_pattern", "scales that differ between modules"},
    {"layer_replication", "blocks that are repeated"},
    {"layers_to_transform", "adapters in some blocks only"},
    {"lora_bias", "biases of adapters"},
    {"modules_to_save", "modules that are trained as a whole"},
    {"rank_pattern", "ranks that differ between modules"},
    {"target_parameters", "adapters of parameters that no linear layer has"},
    {"trainable_token_indices", "rows of an embedding that are trained"},
    {"use_dora", "DoRA, which also trains the magnitudes of weights"},
    {"use_qalora", "QALoRA, which pools its input"}};

inline constexpr std::string_view merge_cure =
    " not computed here; merge the adapter into its model with PEFT (merge_and_unload) and give that folder";

/// Throws `error` with exit code 65 for a method of initialisation (init_lora_weights) with which
/// the adapter alone does not give PEFT's result. PiSSA, OLoRA, CorDA, LoftQ and LoRA-GA also
/// change the base weights; MiCA keeps half of each adapter frozen.
inline void check_initialisation(pretrained::config_reader& c) {
  json::json_value const* const how = c.find("init_lora_weights");
  if (how == nullptr || how->is_boolean()) return;
  if (how->is_string())
    for (char const* const plain : {"gaussian", "eva", "orthogonal"})
      if (*how == plain) return;
  c.refuse(c.is("init_lora_weights", *how) +
           ", whose base weights are not those of the model's folder; save the adapter in PEFT with "
           "path_initial_model_for_weight_conversion, or merge it (merge_and_unload) and give that folder");
}

inline lora_options read_adapter_config(std::filesystem::path const& file) {
  json::json_value const config = json::read_json(file);
  pretrained::config_reader c(config, file.string());
  json::json_value const* const type = c.find("peft_type");
  if (type == nullptr) c.refuse("\"peft_type\" is missing; give a folder in which PEFT saved a LoRA");
  if (*type != "LORA") c.refuse(c.is("peft_type", *type) + ", not \"LORA\"; give a folder in which PEFT saved a LoRA");
  lora_options found;
  found.rank = c.extent({"r"}, 8);
  found.alpha = c.real("lora_alpha", 8, -1e6, 1e6);
  found.dropout = c.real("lora_dropout", 0, 0, 1);
  if (c.flag("use_rslora", false)) found.alpha *= std::sqrt(static_cast<double>(found.rank));
  if (json::json_value const* const bias = c.find("bias"); bias != nullptr && *bias != "none")
    c.refuse(c.is("bias", *bias) + ": trained biases are" + std::string(merge_cure));
  check_initialisation(c);
  for (auto const& [key, phrase] : uncomputed_options)
    // The number 0 is a layer: "layers_to_transform": 0.
    if (json::json_value const* const value = c.find(key);
        value != nullptr && (value->is_number() || !pretrained::says_nothing(*value)))
      c.refuse(c.is(key, *value) + ": " + std::string(phrase) + " are" + std::string(merge_cure));
  c.skip({"auto_mapping", "base_model_name_or_path", "corda_config", "ensure_weight_tying", "eva_config",
          "exclude_modules", "fan_in_fan_out", "inference_mode", "layers_pattern", "loftq_config", "lora_ga_config",
          "megatron_config", "megatron_core", "peft_version", "qalora_group_size", "revision", "target_modules",
          "task_type"});
  c.refuse_unknown();
  return found;
}

inline safetensors::weights_source open_adapter_weights(std::filesystem::path const& folder) {
  // Errors of the existence checks are ignored; opening the file reports them by name.
  std::error_code unknown;
  if (!std::filesystem::exists(folder / adapter_weights_name, unknown) &&
      std::filesystem::exists(folder / "adapter_model.bin", unknown))
    throw error(exit_code::data, folder.string() + " has adapter_model.bin but no " + adapter_weights_name +
                                     ", and redco reads no pickle; load the adapter in PEFT and save it again with "
                                     "safe_serialization=True");
  return safetensors::open_safetensors(folder / adapter_weights_name);
}

/// Returns a phrase, for an error message, about a tensor in an adapter's file that belongs to no
/// plain LoRA of a linear layer.
inline std::string_view uncomputed_tensor(std::string_view name) {
  if (name.find(".lora_magnitude_vector") != std::string_view::npos) return "a magnitude of DoRA (use_dora)";
  if (name.find(".lora_embedding_") != std::string_view::npos) return "an adapter of an embedding";
  if (name.ends_with(".lora_A.bias") || name.ends_with(".lora_B.bias")) return "a bias of an adapter (lora_bias)";
  return "a module that was trained as a whole (modules_to_save)";
}

}  // namespace redco::adapt::detail

namespace redco {

REDCO_INLINE adapter_folder::adapter_folder(std::filesystem::path const& path)
    : folder_(path),
      read_(adapt::detail::read_adapter_config(path / adapt::adapter_config_name)),
      weights_(adapt::detail::open_adapter_weights(path)) {}

REDCO_INLINE lora_options adapter_folder::options(std::span<models::stored_name const> names) const {
  constexpr std::string_view prefix = "base_model.model.", a_end = ".lora_A.weight", b_end = ".lora_B.weight",
                             weight = ".weight";
  auto const refuse = [&](std::string const& why) { throw error(exit_code::data, folder_.string() + " " + why); };
  auto const is_qkv = [](models::stored_name const& row) {
    return row.ours.ends_with(".q.weight") || row.ours.ends_with(".k.weight") || row.ours.ends_with(".v.weight");
  };
  // Returns the path of a row's weight; "qkv" ends the path of q, k and v stored as one.
  auto const path_of = [&](models::stored_name const& row) {
    std::string path(row.ours.substr(0, row.ours.rfind('.')));
    if (row.parts > 1 && is_qkv(row)) path.replace(path.rfind('.') + 1, std::string::npos, "qkv");
    return path;
  };
  std::set<std::string> adapted, all;
  for (models::stored_name const& row : names)
    if (row.ours.ends_with(weight) || row.ours.ends_with(".*")) all.insert(path_of(row));
  for (auto const& [name, tensor] : weights_.tensors) {
    bool const is_a = name.ends_with(a_end);
    if (!name.starts_with(prefix) || (!is_a && !name.ends_with(b_end)))
      refuse("has " + safetensors::shown(name) + ", " + std::string(adapt::detail::uncomputed_tensor(name)) +
             ", which is" + std::string(adapt::detail::merge_cure));
    if (!is_a) continue;
    if (tensor.shape.empty() || tensor.shape[0] != read_.rank)
      refuse("has " + safetensors::shown(name) + " of shape " + safetensors::text_of(tensor.shape) + ", but \"r\" is " +
             std::to_string(read_.rank) + ": ranks that differ between modules are" +
             std::string(adapt::detail::merge_cure));
    std::string const theirs =
        name.substr(prefix.size(), name.size() - prefix.size() - a_end.size()) + std::string(weight);
    auto const row =
        std::ranges::find_if(names, [&](models::stored_name const& one) { return meta::glob(one.theirs, theirs); });
    if (row == names.end())
      refuse("adapts " + safetensors::shown(theirs) +
             ", which this model has not; give the model that it was trained with");
    if (row->parts > 1 && !is_qkv(*row))
      refuse("adapts " + safetensors::shown(theirs) + ", in which files join two weights of the model, which is" +
             std::string(adapt::detail::merge_cure));
    adapted.insert(path_of(*row));
  }
  std::set<std::string> targets;
  for (std::string const& path : adapted) targets.insert(adapt::detail::shortest_target(path, adapted, all));
  std::string list;
  for (std::string const& target : targets) list += (list.empty() ? "" : ",") + target;
  lora_options result = read_;
  result.targets = list;
  return result;
}

}  // namespace redco
