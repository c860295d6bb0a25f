#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/safetensors/weights_source.hpp>

#include <redco/diag/error.hpp>

#include <string>
#include <string_view>

namespace redco::pretrained {

/// Returns the name in a model's table of tensor names for the tensor `in_file` of a weights file.
/// Adds the prefix that files of the base model alone omit, and replaces gamma and beta of old
/// files by weight and bias. Returns a name without a match in the table unchanged.
std::string name_in_table(std::string_view in_file, models::stored_table const& table);

/// Returns `weights` with its tensors renamed to the names in a model's table of tensor names.
/// Throws `error` with exit code 65 if two tensors get an equal name.
safetensors::weights_source named_as(safetensors::weights_source weights, models::stored_table const& table);

}  // namespace redco::pretrained

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/pretrained/named_as.inl.hpp>
#endif
