#pragma once

#include <redco/ckpt/detail/disk_phase.hpp>
#include <redco/ckpt/detail/gathered_tensors.hpp>
#include <redco/ckpt/detail/in_file.hpp>
#include <redco/ckpt/detail/together.hpp>
#include <redco/ckpt/read_parts.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/pretrained/save_model_options.hpp>
#include <redco/pretrained/weights_folder.hpp>
#include <redco/safetensors/box.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/safetensors/output_file.hpp>
#include <redco/safetensors/tensor_table.hpp>

#include <redco/comm/group.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace redco::ckpt::detail {

/// Writes one safetensors file of unsharded tensors. All ranks must call it; rank 0 writes. If rank
/// 0 fails, all ranks throw its error.
template <safetensors::file_ops Ops>
void write_whole(Ops& ops, std::filesystem::path const& path, safetensors::safetensors_plan const& plan,
                 gathered_tensors const& tensors, comm::group& world) {
  std::optional<safetensors::output_file<Ops>> file;
  auto const on_first = [&](auto work) {
    together(world, [&] {
      if (world.rank() == 0) work();
      return std::string();
    });
  };
  on_first([&] { file.emplace(ops, path).write(plan.header); });
  for (safetensors::safetensors_entry const& entry : plan.entries) {
    safetensors::for_each_slab(entry, [&](safetensors::box const& slab) {
      at::Tensor const values = tensors.on_first(entry.name, slab);
      // Senders wait here, so that at most one slab is in flight.
      on_first([&] { file->write(bytes_of(values)); });
    });
  }
  on_first([&] { file->finish(); });
}

}  // namespace redco::ckpt::detail

namespace redco::ckpt {

/// Saves a model as save_model does. `ops`: system calls for writing files, which tests replace by
/// calls that fail.
template <safetensors::file_ops Ops>
void save_model_with(Ops& ops, std::filesystem::path const& directory, std::span<models::stored_name const> names,
                     std::span<state_part const> parts, comm::group& world, save_model_options const& options) {
  at::NoGradGuard const no_grad;
  detail::disk_deadline const patient(world, {});
  std::vector<state_part> own;
  auto const lists = detail::together(world, [&] {
    pretrained::check_type_to_save(options);
    own = detail::in_files(names, detail::cut_by_groups(names, parts));
    std::string list;
    for (state_part const& part : own) list += part.name + '\n';
    return list;
  });
  std::vector<std::string> const order = detail::lines_of_all(lists);
  auto const type_of = [&](state_part const& part) {
    at::ScalarType const type = part.local.scalar_type();
    std::optional<safetensors::file_dtype> const other = pretrained::type_to_save(options, part.name);
    return other && at::isFloatingType(type) ? scalar_type_of(*other) : type;
  };
  detail::gathered_tensors const tensors(own, type_of, world);
  auto const files = pretrained::weights_files(tensors.table(), order, options.file_bytes);

  pretrained::weights_folder<Ops> folder(ops, directory);
  bool const first = world.rank() == 0;
  try {
    detail::together(world, [&] {
      if (first) {
        folder.begin();
        folder.copy(options.files, options.texts);
      }
      return std::string();
    });
    for (pretrained::weights_file const& file : files)
      detail::write_whole(ops, folder.unfinished(file.name), file.plan, tensors, world);
    detail::together(world, [&] {
      if (first) folder.commit(files);
      return std::string();
    });
  } catch (error const&) {
    try {
      if (first) folder.discard();
    } catch (error const&) {
      // The first failure is the one to report; the next save removes the leftover files.
    }
    throw;
  }
}

}  // namespace redco::ckpt
