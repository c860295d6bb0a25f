#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/workdir/checkpoint_names.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/safetensors/box.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/safetensors/output_file.hpp>
#include <redco/safetensors/safetensors_plan.hpp>

#include <redco/diag/error.hpp>

#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::ckpt::detail {

/// Returns the parts that this rank writes to a checkpoint, by kind of file ("parameters",
/// "optimizer", ...). Skips parts without elements.
inline std::map<std::string, std::vector<state_part const*>> written_parts(std::span<state_part const> parts) {
  std::map<std::string, std::vector<state_part const*>> kinds;
  for (state_part const& part : parts) {
    check_part(part);
    if (part.owner && safetensors::count_of(part.box.shape) > 0) kinds[workdir::kind_of(part.name)].push_back(&part);
  }
  return kinds;
}

/// Returns a table with name, dtype and unsharded shape of this rank's tensors, with empty lists of
/// parts. Throws `error` with exit code 70 if a name occurs twice or a part does not fit its
/// tensor.
inline safetensors::tensor_table described(std::span<state_part const> parts) {
  safetensors::tensor_table table;
  for (state_part const& part : parts) {
    check_part(part);
    if (!table
             .try_emplace(part.name,
                          safetensors::stored_tensor{file_dtype_of(part.local.scalar_type()), part.shape, {}})
             .second) {
      throw error(exit_code::internal,
                  "tensor " + safetensors::shown(part.name) + " is twice in the state of a rank. Rename one of them.");
    }
  }
  return table;
}

/// Writes these parts to a safetensors file `name`, and adds the file's size and hash to `share`,
/// this rank's part of the manifest.
template <safetensors::file_ops Ops>
void write_parts(Ops& ops, std::filesystem::path const& directory, std::string const& name,
                 std::vector<state_part const*> const& parts, workdir::manifest& share) {
  std::vector<safetensors::safetensors_entry> entries;
  std::map<std::string_view, state_part const*> by_name;
  for (state_part const* const part : parts) {
    entries.push_back({part->name, file_dtype_of(part->local.scalar_type()), part->box.shape});
    by_name[part->name] = part;
  }
  safetensors::safetensors_plan const plan = safetensors::plan_safetensors(std::move(entries));
  safetensors::output_file<Ops> file(ops, directory / name);
  file.write(plan.header);
  for (safetensors::safetensors_entry const& entry : plan.entries) {
    at::Tensor const values = held_values(*by_name.at(entry.name)).to(tensors::cpu_device()).contiguous();
    file.write(std::span(static_cast<std::byte const*>(values.data_ptr()), values.nbytes()));
  }
  file.finish();
  share.files[name] = {file.size(), file.digest()};
}

}  // namespace redco::ckpt::detail
