#pragma once

#include <redco/run/network_state.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/safetensors/weights_source.hpp>

#include <span>

namespace redco::run {

/// Fills a network's masters with weights from outside that are named so; adapters, which only a checkpoint of theirs has, stay as
/// they are. All ranks call it. Errors: those of `load_model`.
void load_weights(network_state const& state, safetensors::weights_source const& weights, stored_table const& table,
                  rank_context& rank);

/// Fills its adapters with those that PEFT has written; `names` are those of the frozen model's weights.
void load_adapters(network_state const& state, safetensors::weights_source const& weights,
                   std::span<stored_name const> names, rank_context& rank);

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/load_weights.inl.hpp>
#endif
