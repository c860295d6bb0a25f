#pragma once

#include <redco/ckpt/save_model.hpp>

#include <redco/ckpt/detail/gathered_tensors.hpp>
#include <redco/ckpt/detail/together.hpp>
#include <redco/ckpt/save_model_with.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/safetensors/output_file.hpp>
#include <redco/safetensors/safetensors_plan.hpp>
#include <redco/config.hpp>

#include <utility>

namespace redco::ckpt {

REDCO_INLINE void save_model(std::filesystem::path const& directory, std::span<models::stored_name const> names,
                             std::span<state_part const> parts, comm::group& world, save_model_options const& options) {
  safetensors::posix_file_ops ops;
  save_model_with(ops, directory, names, parts, world, options);
}

REDCO_INLINE void save_parts(std::filesystem::path const& directory, std::string const& weights,
                             std::string const& text, tensors::function_ref<parts_with_lines()> own,
                             tensors::function_ref<std::string(std::vector<std::string> const& lines)> text_of,
                             comm::group& world) {
  at::NoGradGuard const no_grad;
  parts_with_lines mine;
  auto const lists = detail::together(world, [&] {
    mine = own();
    return mine.lines;
  });
  auto const type_of = [](state_part const& part) { return part.local.scalar_type(); };
  detail::gathered_tensors const tensors(mine.parts, type_of, world);
  std::vector<safetensors::safetensors_entry> entries;
  for (auto const& [name, tensor] : tensors.table()) entries.push_back({name, tensor.type, tensor.shape});
  auto const plan = safetensors::plan_safetensors(std::move(entries), {{"format", "pt"}});

  safetensors::posix_file_ops ops;
  safetensors::disk<safetensors::posix_file_ops> disk(ops);
  auto const unfinished = [&](std::string const& name) { return directory / (".tmp-" + name); };
  auto const on_first = [&](auto work) {
    detail::together(world, [&] {
      if (world.rank() == 0) work();
      return std::string();
    });
  };
  on_first([&] {
    std::filesystem::create_directories(directory);
    disk.remove_all(unfinished(weights));
    disk.remove_all(unfinished(text));
    safetensors::output_file file(ops, unfinished(text));
    file.write(text_of(detail::lines_of_all(lists)));
    file.finish();
  });
  detail::write_whole(ops, unfinished(weights), plan, tensors, world);
  on_first([&] {
    disk.remove_all(directory / weights);
    disk.sync_directory(directory);
    disk.rename(unfinished(text), directory / text);
    disk.sync_directory(directory);
    disk.rename(unfinished(weights), directory / weights);
    disk.sync_directory(directory);
  });
}

}  // namespace redco::ckpt
