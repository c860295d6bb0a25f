#pragma once

#include <redco/pretrained/adapter_place.hpp>
#include <redco/pretrained/save_adapter_options.hpp>

#include <redco/fact/lora_options.hpp>

#include <span>
#include <string>

namespace redco {

/// The adapter_config.json of adapters that stand so.
std::string adapter_config_text(lora_options const& adapters, std::span<adapter_place const> places,
                                save_adapter_options const& options);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/pretrained/adapter_config_text.inl.hpp>
#endif
