#pragma once

#include <redco/adapt/plan/adapter_place.hpp>
#include <redco/adapt/plan/save_adapter_options.hpp>

#include <redco/adapt/plan/lora_options.hpp>

#include <span>
#include <string>

namespace redco::adapt {

/// Returns the text of PEFT's file adapter_config.json. `places`: positions of the adapters'
/// tensors in PEFT's file.
std::string adapter_config_text(lora_options const& adapters, std::span<adapter_place const> places,
                                save_adapter_options const& options);

}  // namespace redco::adapt

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/adapt/plan/adapter_config_text.inl.hpp>
#endif
