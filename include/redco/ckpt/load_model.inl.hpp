#pragma once

#include <redco/ckpt/load_model.hpp>

#include <redco/ckpt/check_same_weights.hpp>
#include <redco/ckpt/detail/in_file.hpp>
#include <redco/ckpt/detail/read_once.hpp>
#include <redco/ckpt/detail/together.hpp>
#include <redco/ckpt/load_parameters.hpp>
#include <redco/pretrained/named_as.hpp>
#include <redco/safetensors/differences.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::ckpt::detail {

/// The parts that this rank loads: `ours` in the model's layout, `stored` in the layout of the
/// files.
struct wanted_tensors {
  std::vector<ckpt::state_part> ours, stored;
  safetensors::tensor_table table = {};  ///< name, dtype and shape of each part in `stored`
  /// Patterns (with * and ?) of names of tensors that the files may contain and that are not
  /// loaded.
  std::vector<std::string> unread = {};
  std::string missing = {};  ///< quoted names of heads missing in the files
};

/// Returns true if a parameter belongs to the layer with the path `layer`.
inline bool is_of_layer(std::string_view parameter, std::string_view layer) {
  return parameter.starts_with(layer) && (parameter.size() == layer.size() || parameter[layer.size()] == '.');
}

inline wanted_tensors wanted_of(safetensors::weights_source const& named, models::stored_table const& table,
                                std::span<ckpt::state_part const> parts) {
  wanted_tensors wanted;
  wanted.unread.assign(table.unread.begin(), table.unread.end());
  for (std::string const& layer : named.fresh)
    if (std::none_of(parts.begin(), parts.end(), [&](auto const& part) { return is_of_layer(part.name, layer); }))
      throw error(exit_code::usage, "fresh names " + safetensors::shown(layer) +
                                        ", and no parameter of the model begins so; name a layer as a report does");
  std::vector<ckpt::state_part> stored = ckpt::detail::in_files(table.names, parts);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string const& ours = parts[i].name;
    if (std::any_of(named.fresh.begin(), named.fresh.end(),
                    [&](auto const& layer) { return is_of_layer(ours, layer); })) {
      wanted.unread.push_back(stored[i].name);
      continue;
    }
    if (!named.tensors.contains(stored[i].name)) {
      models::stored_name const* const row = models::place_in_file(table.names, ours).row;
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
        stored[i].name,
        safetensors::stored_tensor{ckpt::file_dtype_of(stored[i].local.scalar_type()), stored[i].shape, {}});
    wanted.ours.push_back(parts[i]);
    wanted.stored.push_back(std::move(stored[i]));
  }
  return wanted;
}

}  // namespace redco::ckpt::detail

namespace redco::ckpt {

REDCO_INLINE void load_model(safetensors::weights_source const& weights, models::stored_table const& table,
                             std::span<ckpt::state_part const> parts, rank_context& rank) {
  if (weights.own_names) return ckpt::load_parameters(weights, parts, rank);
  ckpt::check_same_weights(weights, rank);
  at::NoGradGuard const no_grad;
  safetensors::weights_source named;
  detail::wanted_tensors wanted;
  ckpt::detail::together(rank.world, [&] {
    named = pretrained::named_as(weights, table);
    wanted = detail::wanted_of(named, table, parts);
    safetensors::refuse_differences(
        weights.files->directory().string(),
        safetensors::differences(named.tensors, wanted.table, {.unread = wanted.unread, .any_float = true}),
        wanted.missing.empty()
            ? "Use the configuration it was saved with, or other weights."
            : "To train a new head on these weights, open the folder with .fresh = {" + wanted.missing + "}.");
    return std::string();
  });
  ckpt::detail::read_once(named, wanted.stored, wanted.ours, rank);
}

}  // namespace redco::ckpt
