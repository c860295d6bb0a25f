#pragma once

#include <redco/ckpt/save_checkpoint.hpp>

#include <redco/ckpt/save_checkpoint_with.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/config.hpp>

namespace redco::ckpt {

REDCO_INLINE std::filesystem::path save_checkpoint(workdir::save_options const& options,
                                                   std::span<state_part const> parts, comm::group& world) {
  safetensors::posix_file_ops ops;
  return save_checkpoint_with(ops, options, parts, world);
}

}  // namespace redco::ckpt
