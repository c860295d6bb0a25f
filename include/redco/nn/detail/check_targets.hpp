#pragma once

#include <redco/fact/lora_options.hpp>

#include <span>
#include <string>

namespace redco::detail {

/// Errors: exit code 64 for a target that names none of the weights that are `adapted`.
void check_targets(lora_options const& options, std::span<std::string const> adapted);

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/nn/detail/check_targets.inl.hpp>
#endif
