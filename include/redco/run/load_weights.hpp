#pragma once

#include <redco/run/network_state.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/safetensors/weights_source.hpp>

#include <span>

namespace redco::run {

/// Fills a network's master parameters with weights from files. `table` maps parameter names to
/// names in the files. Parameters of LoRA adapters keep their values, unless the weights are a
/// checkpoint that has adapters. All ranks call it. Throws the errors of `load_model`.
void load_weights(network_state const& state, safetensors::weights_source const& weights,
                  models::stored_table const& table, rank_context& rank);

/// Fills a network's LoRA adapters with weights from files in PEFT's format. `names`: names of the
/// frozen model's weights in its own files. All ranks call it.
void load_adapters(network_state const& state, safetensors::weights_source const& weights,
                   std::span<models::stored_name const> names, rank_context& rank);

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/load_weights.inl.hpp>
#endif
