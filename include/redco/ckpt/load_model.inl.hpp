#pragma once

#include <redco/ckpt/load_model.hpp>

#include <redco/ckpt/detail/in_file.hpp>
#include <redco/ckpt/detail/read_once.hpp>
#include <redco/ckpt/detail/together.hpp>
#include <redco/ckpt/load_parameters.hpp>
#include <redco/safetensors/differences.hpp>
#include <redco/config.hpp>

#include <string>
#include <vector>

namespace redco {

REDCO_INLINE void load_model(weights_source const& weights, std::span<stored_name const> names,
                             std::span<std::string_view const> unread, std::span<state_part const> parts,
                             rank_context& rank) {
  if (weights.own_names) return load_parameters(weights, parts, rank);
  std::vector<state_part> wanted;
  detail::together(rank.world, [&] {
    wanted = detail::in_files(names, parts);
    tensor_table table;
    for (state_part const& part : wanted)
      table.try_emplace(part.name, stored_tensor{file_dtype_of(part.local.scalar_type()), part.shape, {}});
    detail::refuse_differences(
        weights.files->directory().string(),
        detail::differences(weights.tensors, table, {.unread = {unread.begin(), unread.end()}, .any_float = true}));
    return std::string();
  });
  detail::read_once(weights, wanted, parts, rank);
}

}  // namespace redco
