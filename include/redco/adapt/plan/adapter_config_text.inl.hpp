#pragma once

#include <redco/adapt/plan/adapter_config_text.hpp>

#include <redco/json/dump.hpp>
#include <redco/json/value.hpp>
#include <redco/config.hpp>

#include <cmath>
#include <cstdint>
#include <set>

namespace redco::adapt {

REDCO_INLINE std::string adapter_config_text(lora_options const& adapters, std::span<adapter_place const> places,
                                             save_adapter_options const& options) {
  std::set<std::string> modules;
  bool transposed = false;
  for (adapter_place const& place : places) modules.insert(place.module), transposed = transposed || place.transposed;
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
