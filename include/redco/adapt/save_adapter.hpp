#pragma once

#include <redco/ckpt/save_model.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/comm/group.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/adapt/plan/adapter_folder.hpp>
#include <redco/adapt/plan/adapter_location.hpp>
#include <redco/adapt/plan/lora_options.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace redco::adapt {

/// The parts of LoRA adapter tensors that one rank holds, with the names and shapes of PEFT's file.
struct adapter_parts {
  std::vector<ckpt::state_part> parts;
  /// Position of each tensor in PEFT's file, in the order of `parts`.
  std::vector<adapter_location> locations;
};

/// Returns the pieces of a part of an adapter parameter that are tensors or adjacent rows in PEFT's
/// file. The adapters of experts have the name of their expert: "experts.up.3.lora_A.weight".
inline std::vector<ckpt::state_part> of_modules(std::span<models::stored_name const> names,
                                                ckpt::state_part const& part) {
  if (part.shape.size() < 3) return ckpt::cut_rows(part, group_of(names, part.name));
  std::vector<ckpt::state_part> all = ckpt::cut_by_index(part);
  std::string const path(adapted_path(part.name)), end = part.name.substr(path.size());
  for (ckpt::state_part& one : all) one.name = path + one.name.substr(part.name.size()) + end;
  return all;
}

/// Converts a rank's parts of adapter parameters to the names, shapes and boxes of PEFT's file. The
/// results view the values of `parts`. `names`: names of the frozen model's weights in its own
/// files. Throws the errors of `adapter_location_of`.
inline adapter_parts adapter_parts_of(std::span<models::stored_name const> names,
                                      std::span<ckpt::state_part const> parts) {
  adapter_parts found;
  for (ckpt::state_part const& part : parts) {
    ckpt::detail::check_part(part);
    for (ckpt::state_part const& cut : of_modules(names, part)) {
      adapter_location location = adapter_location_of(names, cut.name, cut.shape, cut.box);
      found.parts.push_back(
          {location.part.name, location.part.shape, ckpt::detail::held_values(cut), location.part.box, cut.owner});
      found.locations.push_back(std::move(location));
    }
  }
  return found;
}

/// Saves adapters alone in PEFT's format: adapter_config.json and adapter_model.safetensors in
/// `directory`. `parts`: this rank's adapter tensors; `names`: stored names of the frozen model.
/// All ranks of `world` call it; rank 0 writes. A crash leaves the old files or no weights, never a
/// mix. Throws `error` with exit code 64 if PEFT has no place for an adapter (see
/// `adapter_location_of`), 74 with path and bytes if writing fails.
inline void save_adapter(std::filesystem::path const& directory, std::span<models::stored_name const> names,
                         lora_options const& adapters, std::span<ckpt::state_part const> parts, comm::group& world,
                         save_adapter_options const& options = {}) {
  // A pipeline stage has the adapters of its own layers only, so each rank lists its modules.
  ckpt::save_parts(
      directory, adapter_weights_name, adapter_config_name,
      [&]() -> ckpt::parts_with_lines {
        adapter_parts own = adapter_parts_of(names, parts);
        std::string lines;
        for (adapter_location const& one : own.locations) lines += (one.transposed ? 'T' : '-') + one.module + '\n';
        return {std::move(own.parts), std::move(lines)};
      },
      [&](std::vector<std::string> const& lines) {
        std::vector<adapter_location> all;
        for (std::string const& line : lines)
          all.push_back({.part = {}, .module = line.substr(1), .transposed = line.front() == 'T'});
        return adapter_config_text(adapters, all, options);
      },
      world);
}

}  // namespace redco::adapt
