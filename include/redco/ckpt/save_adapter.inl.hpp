#pragma once

#include <redco/ckpt/save_adapter.hpp>

#include <redco/ckpt/adapter_parts.hpp>
#include <redco/ckpt/detail/gathered_tensors.hpp>
#include <redco/ckpt/detail/together.hpp>
#include <redco/ckpt/save_model_with.hpp>
#include <redco/pretrained/adapter_config_text.hpp>
#include <redco/pretrained/adapter_folder.hpp>
#include <redco/safetensors/disk.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/safetensors/output_file.hpp>
#include <redco/safetensors/safetensors_plan.hpp>
#include <redco/config.hpp>

#include <string>
#include <utility>
#include <vector>

namespace redco {

REDCO_INLINE void save_adapter(std::filesystem::path const& directory, std::span<stored_name const> names,
                               lora_options const& adapters, std::span<ckpt::state_part const> parts, group& world,
                               save_adapter_options const& options) {
  at::NoGradGuard const no_grad;
  ckpt::adapter_parts own;
  ckpt::detail::together(world, [&] {
    own = ckpt::adapter_parts_of(names, parts);
    return std::string();
  });
  auto const type_of = [](ckpt::state_part const& part) { return part.local.scalar_type(); };
  ckpt::detail::gathered_tensors const tensors(own.parts, type_of, world);
  std::vector<safetensors::safetensors_entry> entries;
  for (auto const& [name, tensor] : tensors.table()) entries.push_back({name, tensor.type, tensor.shape});
  auto const plan = safetensors::plan_safetensors(std::move(entries), {{"format", "pt"}});

  safetensors::posix_file_ops ops;
  safetensors::disk<safetensors::posix_file_ops> disk(ops);
  auto const unfinished = [&](char const* name) { return directory / (".tmp-" + std::string(name)); };
  auto const on_first = [&](auto work) {
    ckpt::detail::together(world, [&] {
      if (world.rank() == 0) work();
      return std::string();
    });
  };
  on_first([&] {
    std::filesystem::create_directories(directory);
    disk.remove_all(unfinished(adapter_weights_name));
    disk.remove_all(unfinished(adapter_config_name));
    safetensors::output_file config(ops, unfinished(adapter_config_name));
    config.write(adapter_config_text(adapters, own.places, options));
    config.finish();
  });
  ckpt::detail::write_whole(ops, unfinished(adapter_weights_name), plan, tensors, world);
  on_first([&] {
    disk.remove_all(directory / adapter_weights_name);
    disk.sync_directory(directory);
    disk.rename(unfinished(adapter_config_name), directory / adapter_config_name);
    disk.sync_directory(directory);
    disk.rename(unfinished(adapter_weights_name), directory / adapter_weights_name);
    disk.sync_directory(directory);
  });
}

}  // namespace redco
