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

REDCO_INLINE void load_model(safetensors::weights_source const& weights, std::span<stored_name const> names,
                             std::span<std::string_view const> unread, std::span<ckpt::state_part const> parts,
                             rank_context& rank) {
  if (weights.own_names) return ckpt::load_parameters(weights, parts, rank);
  std::vector<ckpt::state_part> wanted;
  ckpt::detail::together(rank.world, [&] {
    wanted = ckpt::detail::in_files(names, parts);
    safetensors::tensor_table table;
    for (ckpt::state_part const& part : wanted)
      table.try_emplace(part.name,
                        safetensors::stored_tensor{ckpt::file_dtype_of(part.local.scalar_type()), part.shape, {}});
    safetensors::refuse_differences(
        weights.files->directory().string(),
        safetensors::differences(weights.tensors, table,
                                 {.unread = {unread.begin(), unread.end()}, .any_float = true}));
    return std::string();
  });
  ckpt::detail::read_once(weights, wanted, parts, rank);
}

}  // namespace redco
