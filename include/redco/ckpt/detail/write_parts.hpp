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

#include <algorithm>
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

/// A part that a rank writes to a checkpoint file, and the name of its tensor in the file: the name
/// of the part; for further parts of one tensor, with "@1", "@2", ... after it.
struct written_part {
  state_part const* part;
  std::string name;
};

/// Largest number of bytes that a rank writes before it reports its progress.
inline constexpr std::size_t written_at_once = std::size_t{64} << 20;

/// Returns the parts that this rank writes to a checkpoint, by kind of file ("parameters",
/// "optimizer", ...). Skips parts without elements.
inline std::map<std::string, std::vector<written_part>> written_parts(std::span<state_part const> parts) {
  std::map<std::string, std::vector<written_part>> kinds;
  std::map<std::string_view, int> counts;
  for (state_part const& part : parts) {
    check_part(part);
    if (!part.owner || safetensors::count_of(part.box.shape) == 0) continue;
    int const before = counts[part.name]++;
    kinds[workdir::kind_of(part.name)].push_back(
        {&part, before == 0 ? part.name : part.name + "@" + std::to_string(before)});
  }
  return kinds;
}

/// Returns the entry of a manifest for a part in the file `file`.
inline safetensors::tensor_part stored_part(std::string const& file, written_part const& one) {
  bool const renamed = one.name != one.part->name;
  return {file, one.part->box.offset, one.part->box.shape, renamed ? one.name : std::string()};
}

/// Returns a table with name, dtype and unsharded shape of this rank's tensors, with empty lists of
/// parts. Throws `error` with exit code 70 if two parts of a tensor overlap or disagree, or if a
/// part does not fit its tensor.
inline safetensors::tensor_table described(std::span<state_part const> parts) {
  safetensors::tensor_table table;
  std::map<std::string_view, std::vector<safetensors::box const*>> boxes;
  for (state_part const& part : parts) {
    check_part(part);
    safetensors::stored_tensor const one{file_dtype_of(part.local.scalar_type()), part.shape, {}};
    auto const& known = table.try_emplace(part.name, one).first->second;
    auto& others = boxes[part.name];
    bool const repeated = std::any_of(others.begin(), others.end(), [&](safetensors::box const* other) {
      return safetensors::intersect(*other, part.box).has_value();
    });
    if (repeated || !(known == one))
      throw error(exit_code::internal,
                  "tensor " + safetensors::shown(part.name) + " is twice in the state of a rank. Rename one of them.");
    others.push_back(&part.box);
  }
  return table;
}

/// Returns the number of bytes of these parts in files.
inline std::uint64_t bytes_in(std::map<std::string, std::vector<written_part>> const& kinds) {
  std::uint64_t bytes = 0;
  for (auto const& [kind, parts] : kinds)
    for (written_part const& one : parts)
      bytes += static_cast<std::uint64_t>(safetensors::count_of(one.part->box.shape)) *
               static_cast<std::uint64_t>(one.part->local.element_size());
  return bytes;
}

/// Writes these parts to a safetensors file `name`, and adds the file's size and hash to `share`,
/// this rank's part of the manifest. Calls wrote(bytes) after each piece.
template <safetensors::file_ops Ops, class Wrote>
void write_parts(Ops& ops, std::filesystem::path const& directory, std::string const& name,
                 std::vector<written_part> const& parts, workdir::manifest& share, Wrote const& wrote) {
  std::vector<safetensors::safetensors_entry> entries;
  std::map<std::string_view, state_part const*> by_name;
  for (auto const& [part, stored_name] : parts) {
    entries.push_back({stored_name, file_dtype_of(part->local.scalar_type()), part->box.shape});
    by_name[stored_name] = part;
  }
  safetensors::safetensors_plan const plan = safetensors::plan_safetensors(std::move(entries));
  safetensors::output_file<Ops> file(ops, directory / name);
  file.write(plan.header);
  for (safetensors::safetensors_entry const& entry : plan.entries) {
    at::Tensor const values = held_values(*by_name.at(entry.name)).to(tensors::cpu_device()).contiguous();
    std::span rest(static_cast<std::byte const*>(values.data_ptr()), values.nbytes());
    while (!rest.empty()) {
      auto const piece = rest.first(std::min(written_at_once, rest.size()));
      file.write(piece);
      wrote(piece.size());
      rest = rest.subspan(piece.size());
    }
  }
  file.finish();
  share.files[name] = {file.size(), file.digest()};
}

}  // namespace redco::ckpt::detail
