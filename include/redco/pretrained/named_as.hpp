#pragma once

#include <redco/model/stored_name.hpp>
#include <redco/safetensors/weights_source.hpp>

#include <redco/diag/error.hpp>

#include <string>
#include <string_view>

namespace redco {

/// The name that a model's table has for a tensor of a file: files of the base model alone leave
/// the table's prefix out, and old files call the weight and the bias of a norm gamma and beta. A
/// name that the table does not know stays.
std::string name_in_table(std::string_view in_file, stored_table const& table);

/// Weights whose tensors have the names of the table. Errors: exit code 65 for a tensor that is
/// there under two names.
safetensors::weights_source named_as(safetensors::weights_source weights, stored_table const& table);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/pretrained/named_as.inl.hpp>
#endif
