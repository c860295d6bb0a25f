#pragma once

#include <redco/ckpt/save_model.hpp>

#include <redco/ckpt/save_model_with.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/config.hpp>

namespace redco::ckpt {

REDCO_INLINE void save_model(std::filesystem::path const& directory, std::span<models::stored_name const> names,
                             std::span<ckpt::state_part const> parts, comm::group& world,
                             save_model_options const& options) {
  safetensors::posix_file_ops ops;
  ckpt::save_model_with(ops, directory, names, parts, world, options);
}

}  // namespace redco::ckpt
