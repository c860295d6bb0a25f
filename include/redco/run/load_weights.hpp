#pragma once

#include <redco/run/network_state.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/workdir/disk_limits.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/log/run_log.hpp>
#include <redco/safetensors/weights_source.hpp>

#include <concepts>
#include <span>
#include <string>
#include <vector>

namespace redco::run {

/// Concept of a folder with a model's weights and notices for the log, such as `pretrained_folder`.
/// With the concept, trainers need not include the pretrained headers.
template <class T>
concept weighted = requires(T const& folder) {
  { folder.weights() } -> std::convertible_to<safetensors::weights_source const&>;
  { folder.notices() } -> std::convertible_to<std::vector<std::string>>;
};

/// Logs the keys, tensors and files of a folder that are not used. Warns about each layer in the
/// option `fresh`, which is not loaded and starts with random values.
template <weighted Folder>
void log_notices(log::run_log& log, Folder const& folder) {
  for (std::string const& notice : folder.notices()) log.line(notice);
  for (std::string const& layer : folder.weights().fresh)
    log.warning(layer + " starts fresh: its weights are random until it is trained");
}

/// Fills a network's master parameters with weights from files. `table` maps parameter names to
/// names in the files. Parameters of LoRA adapters keep their values, unless the weights are a
/// checkpoint that has adapters. `limits`: times of waits for a slow disk. All ranks call it.
/// Throws the errors of `load_model`.
void load_weights(network_state const& state, safetensors::weights_source const& weights,
                  models::stored_table const& table, rank_context& rank, workdir::disk_limits const& limits = {});

/// Fills a network's LoRA adapters with weights from files in PEFT's format. `names`: names of the
/// frozen model's weights in its own files. `limits`: times of waits for a slow disk. All ranks
/// call it.
void load_adapters(network_state const& state, safetensors::weights_source const& weights,
                   std::span<models::stored_name const> names, rank_context& rank,
                   workdir::disk_limits const& limits = {});

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/load_weights.inl.hpp>
#endif
