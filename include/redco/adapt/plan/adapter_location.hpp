#pragma once

#include <redco/pretrained/stored_part.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/safetensors/box.hpp>
#include <redco/safetensors/tensor_table.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redco::adapt {

/// Returns the path of the weight to which an adapter's parameter `ours` belongs:
/// "layers.0.self_attn.q" for "layers.0.self_attn.q.lora_B.weight". Empty for other parameters.
constexpr std::string_view adapted_path(std::string_view ours) {
  for (std::string_view const end : {std::string_view(".lora_A.weight"), std::string_view(".lora_B.weight")})
    if (ours.ends_with(end)) return ours.substr(0, ours.size() - end.size());
  return {};
}

/// The position of one adapter matrix (A or B) in PEFT's adapter file, and the facts about its
/// module for adapter_config.json.
struct adapter_location {
  /// Name, shape and box (offsets and sizes) of the matrix in PEFT's file. The name has the form
  /// "base_model.model.<module>.lora_A.weight".
  pretrained::stored_part part;
  /// Path of the adapted module after the number of its block or expert, such as
  /// "self_attn.q_proj".
  std::string module;
  /// True if the adapted module stores its own weight transposed (PEFT's fan_in_fan_out).
  bool transposed = false;
};

/// Returns the number of adjacent rows that PEFT's file takes from the adapter parameter `ours` in
/// turn with other parameters; 0 if it has the parameter as a whole.
std::int64_t group_of(std::span<models::stored_name const> names, std::string const& ours);

/// Returns the position in PEFT's file of the adapter parameter `ours`, such as
/// "layers.0.self_attn.q.lora_B.weight". `names`: names of the frozen model's weights in its own
/// files. If a file stores several weights as one tensor, PEFT has one A for all of them and joins
/// their B matrices; `box` must then be within a group of group_of().
///
/// Throws `error` with exit code 64 if such weights have different A, or if separate weights share
/// one A. Throws it with 70 if `names` lacks the weight.
adapter_location adapter_location_of(std::span<models::stored_name const> names, std::string const& ours,
                                     std::vector<std::int64_t> const& shape, safetensors::box const& box);

/// Throws `error` with exit code 65 if an adapter's file has a tensor of `wanted` in some blocks of
/// the model but not in all. PEFT saves such files if layers_to_transform is set or target_modules
/// is a pattern. `source`: folder of the file, for messages.
void check_adapted_blocks(std::string const& source, safetensors::tensor_table const& stored,
                          std::span<std::string const> wanted);

}  // namespace redco::adapt

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/adapt/plan/adapter_location.inl.hpp>
#endif
