#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/safetensors/weights_source.hpp>
#include <redco/adapt/plan/lora_options.hpp>

#include <concepts>
#include <span>

namespace redco::adapt {

/// Concept of a folder of LoRA adapters, such as `adapter_folder`. With the concept, trainers need
/// not include the folder's header.
template <class T>
concept adapting = requires(T const& folder, std::span<models::stored_name const> names) {
  { folder.weights() } -> std::convertible_to<safetensors::weights_source const&>;
  { folder.options(names) } -> std::same_as<lora_options>;
};

}  // namespace redco::adapt
