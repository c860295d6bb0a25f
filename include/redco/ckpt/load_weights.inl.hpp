#pragma once

#include <redco/ckpt/load_weights.hpp>

#include <redco/ckpt/detail/disk_phase.hpp>
#include <redco/ckpt/detail/in_file.hpp>
#include <redco/ckpt/detail/read_once.hpp>
#include <redco/ckpt/detail/together.hpp>
#include <redco/ckpt/detail/write_parts.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/pretrained/named_as.hpp>
#include <redco/pretrained/weights_folder.hpp>
#include <redco/safetensors/box.hpp>
#include <redco/safetensors/differences.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/safetensors/xxh64.hpp>
#include <redco/json/dump.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace redco::ckpt::detail {

/// Returns a text that identifies one stored part of a tensor, such as "F32 [6, 4] in
/// model.safetensors from byte 96, digest 0123456789abcdef". The digest covers its first values.
inline std::string part_identity(safetensors::open_files const& files, std::string const& in_table,
                                 safetensors::tensor_part const& part) {
  safetensors::safetensors_reader const& file = files[part.file];
  std::string const& tensor = part.name.empty() ? in_table : part.name;
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

REDCO_INLINE void load_parameters(safetensors::weights_source const& weights, std::span<state_part const> parts,
                                  rank_context& rank, std::vector<std::string> const& unread,
                                  workdir::disk_limits const& limits) {
  detail::disk_deadline const patient(rank.world, limits);
  check_same_weights(weights, rank);
  auto const lists = detail::together(rank.world, [&] {
    std::string names;
    for (state_part const& part : parts) names += part.name + '\n';
    return names;
  });
  std::vector<std::string> const all = detail::lines_of_all(lists);
  detail::together(rank.world, [&] {
    safetensors::refuse_differences(weights.files->directory().string(),
                                    safetensors::differences(weights.tensors, detail::described(parts),
                                                             {.unread = safetensors::names_beginning_with(unread),
                                                              .any_float = true,
                                                              .elsewhere = {all.begin(), all.end()}}));
    return std::string();
  });
  detail::read_once(weights, parts, parts, rank, limits);
}

}  // namespace redco::ckpt

namespace redco::ckpt::detail {

/// The parts that this rank loads: `ours` in the model's layout, `stored` in the layout of the
/// files.
struct wanted_tensors {
  std::vector<state_part> ours, stored;
  safetensors::tensor_table table = {};  ///< name, dtype and shape of each part in `stored`
  /// Patterns (with * and ?) of names of tensors that the files may contain and that are not
  /// loaded.
  std::vector<std::string> unread = {};
  std::string missing = {};  ///< quoted names of heads missing in the files
  /// Lines with the name of each parameter of this rank, a tab, and its name in the files
  std::string names = {};
};

/// Returns true if a parameter belongs to the layer with the path `layer`.
inline bool is_of_layer(std::string_view parameter, std::string_view layer) {
  return parameter.starts_with(layer) && (parameter.size() == layer.size() || parameter[layer.size()] == '.');
}

inline wanted_tensors wanted_of(safetensors::weights_source const& named, models::stored_table const& table,
                                std::span<state_part const> parts) {
  wanted_tensors wanted;
  wanted.unread.assign(table.unread.begin(), table.unread.end());
  std::vector<state_part> stored = in_files(table.names, parts);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string const& ours = parts[i].name;
    wanted.names += ours + '\t' + stored[i].name + '\n';
    if (std::any_of(named.fresh.begin(), named.fresh.end(),
                    [&](auto const& layer) { return is_of_layer(ours, layer); })) {
      wanted.unread.push_back(stored[i].name);
      continue;
    }
    if (!named.tensors.contains(stored[i].name)) {
      models::stored_name const* const row = models::find_stored_name(table.names, ours).row;
      if (row != nullptr && row->zero) {
        parts[i].local.zero_();
        continue;
      }
      for (std::string_view const head : table.heads)
        if (std::string const quoted = "\"" + std::string(head) + "\"";
            is_of_layer(ours, head) && wanted.missing.find(quoted) == std::string::npos)
          wanted.missing += (wanted.missing.empty() ? "" : ", ") + quoted;
    }
    wanted.table.try_emplace(
        stored[i].name, safetensors::stored_tensor{file_dtype_of(stored[i].local.scalar_type()), stored[i].shape, {}});
    wanted.ours.push_back(parts[i]);
    wanted.stored.push_back(std::move(stored[i]));
  }
  return wanted;
}

/// Throws `error` with exit code 64 if the option `fresh` names a layer of which no rank has a
/// parameter. `names`: lines of wanted_tensors::names of all ranks.
inline void check_fresh(std::vector<std::string> const& fresh, std::vector<std::string> const& names) {
  for (std::string const& layer : fresh)
    if (std::none_of(names.begin(), names.end(), [&](std::string const& line) {
          return is_of_layer(std::string_view(line).substr(0, line.find('\t')), layer);
        }))
      throw error(exit_code::usage, "fresh names " + safetensors::shown(layer) +
                                        ", and no parameter of the model begins so; name a layer as a report does");
}

}  // namespace redco::ckpt::detail

namespace redco::ckpt {

REDCO_INLINE void load_model(safetensors::weights_source const& weights, models::stored_table const& table,
                             std::span<state_part const> parts, rank_context& rank,
                             workdir::disk_limits const& limits) {
  if (weights.own_names) return load_parameters(weights, parts, rank, {}, limits);
  detail::disk_deadline const patient(rank.world, limits);
  check_same_weights(weights, rank);
  at::NoGradGuard const no_grad;
  safetensors::weights_source named;
  detail::wanted_tensors wanted;
  auto const lists = detail::together(rank.world, [&] {
    named = pretrained::named_as(weights, table);
    wanted = detail::wanted_of(named, table, detail::cut_by_groups(table.names, parts));
    return wanted.names;
  });
  std::vector<std::string> const all = detail::lines_of_all(lists);
  detail::together(rank.world, [&] {
    detail::check_fresh(named.fresh, all);
    safetensors::permitted_differences permitted{.unread = wanted.unread, .any_float = true};
    for (std::string const& line : all) permitted.elsewhere.insert(line.substr(line.find('\t') + 1));
    safetensors::refuse_differences(
        weights.files->directory().string(), safetensors::differences(named.tensors, wanted.table, permitted),
        wanted.missing.empty()
            ? "Use the configuration it was saved with, or other weights."
            : "To train a new head on these weights, open the folder with .fresh = {" + wanted.missing + "}.");
    return std::string();
  });
  detail::read_once(named, wanted.stored, wanted.ours, rank, limits);
}

}  // namespace redco::ckpt
