#pragma once

#include <redco/adapt/adapter_parts.hpp>
#include <redco/adapt/plan/adapter_config_text.hpp>
#include <redco/adapt/plan/adapter_folder.hpp>
#include <redco/adapt/plan/lora_options.hpp>
#include <redco/adapt/plan/save_adapter_options.hpp>

#include <redco/ckpt/save_parts.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/comm/group.hpp>
#include <redco/model/stored_name.hpp>

#include <filesystem>
#include <span>
#include <utility>

namespace redco::adapt {

/// Saves adapters alone in PEFT's format: adapter_config.json and adapter_model.safetensors in
/// `directory`. `parts`: this rank's adapter tensors; `names`: stored names of the frozen model.
/// All ranks of `world` call it; rank 0 writes. A crash leaves the old files or no weights, never a
/// mix. Throws `error` with exit code 64 if PEFT has no place for an adapter (see
/// `adapter_place_of`), 74 with path and bytes if writing fails.
inline void save_adapter(std::filesystem::path const& directory, std::span<models::stored_name const> names,
                         lora_options const& adapters, std::span<ckpt::state_part const> parts, comm::group& world,
                         save_adapter_options const& options = {}) {
  ckpt::save_parts(
      directory, adapter_weights_name, adapter_config_name,
      [&]() -> ckpt::parts_with_text {
        adapter_parts own = adapter_parts_of(names, parts);
        return {std::move(own.parts), adapter_config_text(adapters, own.places, options)};
      },
      world);
}

}  // namespace redco::adapt
