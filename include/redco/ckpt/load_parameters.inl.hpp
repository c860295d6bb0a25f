#pragma once

#include <redco/ckpt/load_parameters.hpp>

#include <redco/ckpt/check_same_weights.hpp>
#include <redco/ckpt/detail/read_once.hpp>
#include <redco/ckpt/detail/together.hpp>
#include <redco/ckpt/detail/write_parts.hpp>
#include <redco/safetensors/differences.hpp>
#include <redco/config.hpp>

namespace redco::ckpt {

REDCO_INLINE void load_parameters(safetensors::weights_source const& weights, std::span<state_part const> parts,
                                  rank_context& rank, std::vector<std::string> const& unread) {
  check_same_weights(weights, rank);
  detail::together(rank.world, [&] {
    safetensors::refuse_differences(
        weights.files->directory().string(),
        safetensors::differences(weights.tensors, detail::described(parts),
                                 {.unread = safetensors::names_beginning_with(unread), .any_float = true}));
    return std::string();
  });
  detail::read_once(weights, parts, parts, rank);
}

}  // namespace redco::ckpt
