#pragma once

#include <redco/run/load_weights.hpp>

#include <redco/run/whole_masters.hpp>
#include <redco/ckpt/load_weights.hpp>
#include <redco/adapt/plan/adapter_location.hpp>
#include <redco/adapt/save_adapter.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace redco::run {

REDCO_INLINE void load_weights(network_state const& state, safetensors::weights_source const& weights,
                               models::stored_table const& table, rank_context& rank,
                               workdir::disk_limits const& limits) {
  whole_masters const whole(state, rank);
  bool const adapted =
      std::ranges::any_of(weights.tensors, [](auto const& one) { return !adapt::adapted_path(one.first).empty(); });
  ckpt::load_model(weights, table, adapted ? state.master_parts() : state.base_parts(), rank, limits);
}

REDCO_INLINE void load_adapters(network_state const& state, safetensors::weights_source const& weights,
                                std::span<models::stored_name const> names, rank_context& rank,
                                workdir::disk_limits const& limits) {
  whole_masters const whole(state, rank);
  std::vector<ckpt::state_part> const parts = adapt::adapter_parts_of(names, state.adapter_parts()).parts;
  std::vector<std::string> wanted;
  for (ckpt::state_part const& part : parts) wanted.push_back(part.name);
  if (!weights.own_names) adapt::check_adapted_blocks(weights.files->directory().string(), weights.tensors, wanted);
  ckpt::load_model(weights, {}, parts, rank, limits);
}

}  // namespace redco::run
