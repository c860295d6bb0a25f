#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/pretrained/stored_part.hpp>
#include <redco/model/stored_name.hpp>

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace redco::ckpt::detail {

/// Returns the parts, cut into groups of rows where the model's files join parameters by groups.
/// Parts are cut by the index of the first dimension where files have one tensor for each index.
inline std::vector<state_part> cut_by_groups(std::span<models::stored_name const> names,
                                             std::span<state_part const> parts) {
  std::vector<state_part> all;
  for (state_part const& part : parts) {
    models::stored_name const* const row = models::find_stored_name(names, part.name).row;
    if (row == nullptr && models::find_stored_name(names, part.name + ".0").row != nullptr) {
      for (state_part& cut : cut_by_index(part)) all.push_back(std::move(cut));
      continue;
    }
    for (state_part& cut : cut_rows(part, row != nullptr ? row->group : 0)) all.push_back(std::move(cut));
  }
  return all;
}

/// Converts parts of a model's parameters to the layout of the model's files. Each result has the
/// name, shape and box of the file's tensor, and views the part's values without padding. `parts`
/// must be cut by groups. Throws `error` with exit code 70 if `names` has no row for a part, or if
/// a part does not fit its row.
inline std::vector<state_part> in_files(std::span<models::stored_name const> names, std::span<state_part const> parts) {
  std::vector<state_part> stored;
  stored.reserve(parts.size());
  for (state_part const& part : parts) {
    check_part(part);
    pretrained::stored_part there = pretrained::stored_part_of(names, part.name, part.shape, part.box);
    at::Tensor values = held_values(part);
    if (there.transposed) values = values.t();
    for (int i = 0; i < there.ones; ++i) values = values.unsqueeze(0);
    stored.push_back({std::move(there.name), std::move(there.shape), values, std::move(there.box), part.owner});
  }
  return stored;
}

}  // namespace redco::ckpt::detail
