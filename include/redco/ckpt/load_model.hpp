#pragma once

#include <redco/ckpt/load_parameters.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/model/stored_name.hpp>

#include <redco/diag/error.hpp>

#include <span>
#include <string_view>

namespace redco {

/// Fills this rank's parts with the weights of a model's files, which name and lay them out as `names` say: each part reads
/// its own box of its tensor only. Floating types are converted to the part's own. Strict: a tensor that is missing, has
/// another shape, or is in the files without being wanted (and without a pattern in `unread`) is error 65 with the first 20
/// differences. Each rank calls it for itself.
void load_model(weights_source const& weights, std::span<stored_name const> names,
                std::span<std::string_view const> unread, std::span<state_part const> parts);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/ckpt/impl/load_model.hpp>
#endif
