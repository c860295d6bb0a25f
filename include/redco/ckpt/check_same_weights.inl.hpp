#pragma once

#include <redco/ckpt/check_same_weights.hpp>

#include <redco/ckpt/detail/together.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/pretrained/folder_files.hpp>
#include <redco/safetensors/box.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/safetensors/xxh64.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/read.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/exit_code.hpp>
#include <redco/diag/input_file.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace redco::ckpt::detail {

/// Returns a text that identifies one stored part of a tensor, such as "F32 [6, 4] in
/// model.safetensors from byte 96, digest 0123456789abcdef". The digest covers its first values.
inline std::string part_identity(safetensors::open_files const& files, std::string const& tensor,
                                 safetensors::tensor_part const& part) {
  safetensors::safetensors_reader const& file = files[part.file];
  safetensors::safetensors_entry const* const entry = file.find(tensor);
  if (entry == nullptr) return "absent in " + part.file;
  safetensors::box first{std::vector<std::int64_t>(entry->shape.size(), 0), entry->shape};
  for (std::int64_t& extent : first.shape) extent = std::min<std::int64_t>(extent, 4);
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(safetensors::count_of(first.shape) * safetensors::size_of(entry->type)));
  if (!bytes.empty()) file.read(tensor, first, bytes, first.shape, first.offset);
  safetensors::xxh64 digest;
  digest.update(bytes);
  return std::string(name_of(entry->type)) + " " + safetensors::text_of(entry->shape) + " in " + part.file +
         " from byte " + std::to_string(entry->begin) + ", digest " + safetensors::xxh64::text_of(digest.digest());
}

}  // namespace redco::ckpt::detail

namespace redco::ckpt {

REDCO_INLINE std::map<std::string, std::string> identity_of(safetensors::weights_source const& weights) {
  std::map<std::string, std::string> all;
  std::filesystem::path const& folder = weights.files->directory();
  for (std::string_view const name : pretrained::folder_files) {
    std::error_code unknown;  // errors are ignored: reading the file reports them
    if (!std::filesystem::exists(folder / name, unknown)) continue;
    if (name != "config.json") {
      all[std::string(name)] =
          "digest " + safetensors::xxh64::text_of(safetensors::xxh64::of(diag::input_file(folder / name)));
      continue;
    }
    json::json_value const config = json::read_json(folder / name);
    for (auto const& [key, value] : config.items()) all["config.json " + key] = json::dump_json(value);
  }
  for (auto const& [name, tensor] : weights.tensors) {
    std::string text;
    for (safetensors::tensor_part const& part : tensor.parts)
      text += (text.empty() ? "" : "; ") + detail::part_identity(*weights.files, name, part);
    all["tensor " + name] = text;
  }
  for (std::string const& layer : weights.fresh) all["fresh " + layer] = "not read";
  return all;
}

REDCO_INLINE void check_same_weights(safetensors::weights_source const& weights, rank_context const& rank) {
  if (!rank.several_processes) return;
  comm::agreement files("model folders", "copy one folder to all hosts", exit_code::data);
  files.from(weights.files->directory().string());
  detail::together(rank.world, [&] {
    if (rank.first_of_process) files.add(identity_of(weights));
    return std::string();
  });
  if (!rank.first_of_process) files.abstain();
  files.check(rank.world);
}

}  // namespace redco::ckpt
