#pragma once

#include <redco/pretrained/adapter_folder.hpp>

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/json/read.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/glob.hpp>
#include <redco/config.hpp>

#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace redco {

namespace detail {

/// Whether a key says nothing: what a newer PEFT knows and this adapter does not use.
inline bool says_nothing(json::json_value const& value) {
  return value.is_null() || value == false || ((value.is_object() || value.is_array()) && value.empty());
}

inline lora_options read_adapter_config(std::filesystem::path const& file) {
  json::json_value const config = json::read_json(file);
  config_reader c(config, file.string());
  json::json_value const* const type = c.find("peft_type");
  if (type == nullptr || *type != "LORA") c.refuse("\"peft_type\" is not \"LORA\"; give a folder of a LoRA");
  lora_options found;
  found.rank = c.extent({"r"});
  found.alpha = c.real("lora_alpha", 8, -1e6, 1e6);
  found.dropout = c.real("lora_dropout", 0, 0, 1);
  if (c.flag("use_rslora", false)) found.alpha *= std::sqrt(static_cast<double>(found.rank));
  c.only("bias", "none");
  c.skip({"alora_invocation_tokens", "auto_mapping", "base_model_name_or_path", "exclude_modules", "fan_in_fan_out",
          "inference_mode", "init_lora_weights", "megatron_core", "peft_version", "qalora_group_size", "revision",
          "target_modules", "task_type"});
  for (auto const& [key, value] : config.items())
    if (says_nothing(value)) c.skip({key});
  c.finish();
  return found;
}

}  // namespace detail

REDCO_INLINE adapter_folder::adapter_folder(std::filesystem::path const& path)
    : folder_(path),
      read_(detail::read_adapter_config(path / adapter_config_name)),
      weights_(safetensors::open_safetensors(path / adapter_weights_name)) {}

REDCO_INLINE lora_options adapter_folder::options(std::span<stored_name const> names) const {
  constexpr std::string_view prefix = "base_model.model.", end = ".lora_A.weight", weight = ".weight";
  std::set<std::string> targets;
  for (auto const& [name, tensor] : weights_.tensors) {
    if (!name.starts_with(prefix) || !name.ends_with(end)) continue;
    std::string const theirs =
        name.substr(prefix.size(), name.size() - prefix.size() - end.size()) + std::string(weight);
    stored_name const* found = nullptr;
    for (stored_name const& row : names)
      if (found == nullptr && meta::glob(row.theirs, theirs)) found = &row;
    if (found == nullptr)
      throw error(exit_code::data, folder_.string() + " adapts " + safetensors::shown(theirs) +
                                       ", which this model has not; give the model that it was trained with");
    std::size_t const star = found->ours.find('*');
    std::string target(found->ours.substr(star == std::string_view::npos ? 0 : star + 2));
    target.resize(target.size() - weight.size());
    if (found->parts > 1) target.replace(target.rfind('.') + 1, std::string::npos, "qkv");
    targets.insert(target);
  }
  std::string list;
  for (std::string const& target : targets) list += (list.empty() ? "" : ",") + target;
  lora_options result = read_;
  result.targets = list;
  return result;
}

}  // namespace redco
