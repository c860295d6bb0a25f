#pragma once

#include <redco/safetensors/tensor_table.hpp>

#include <span>
#include <string>

namespace redco::adapt {

/// Throws `error` with exit code 65 if an adapter's file has a tensor of `wanted` in some blocks of
/// the model but not in all. PEFT saves such files if layers_to_transform is set or target_modules
/// is a pattern. `source`: folder of the file, for messages.
void check_adapted_blocks(std::string const& source, safetensors::tensor_table const& stored,
                          std::span<std::string const> wanted);

}  // namespace redco::adapt

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/adapt/plan/check_adapted_blocks.inl.hpp>
#endif
