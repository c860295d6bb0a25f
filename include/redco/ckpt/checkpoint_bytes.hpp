#pragma once

#include <redco/ckpt/state_part.hpp>
#include <redco/safetensors/box.hpp>

#include <cstdint>
#include <span>

namespace redco::ckpt {

/// Returns the number of bytes of the tensors in a checkpoint. `parts`: one rank's parts of all
/// tensors; each tensor is counted whole, not by its part.
inline std::uintmax_t checkpoint_bytes(std::span<state_part const> parts) {
  std::uintmax_t bytes = 0;
  for (state_part const& part : parts)
    bytes += static_cast<std::uintmax_t>(safetensors::count_of(part.shape)) *
             static_cast<std::uintmax_t>(part.local.element_size());
  return bytes;
}

}  // namespace redco::ckpt
