#pragma once

#include <redco/shape/mesh.hpp>

#include <redco/diag/error.hpp>

#include <string>
#include <string_view>

namespace redco::options {

/// "2x3" for two data-parallel replicas of three model-parallel shards.
inline std::string to_text(mesh const& m) { return std::to_string(m.dp) + "x" + std::to_string(m.tp); }

/// The mesh that `text` = DPxMP says. Both numbers are at least one, written without sign.
///
/// Errors: exit_code::usage.
mesh parse_mesh(std::string_view text);

}  // namespace redco::options

#ifndef REDCO_COMPILED
#include <redco/options/mesh_text.inl.hpp>
#endif
