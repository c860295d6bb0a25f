#pragma once

#include <redco/shape/mesh.hpp>

#include <redco/diag/error.hpp>

#include <string>
#include <string_view>

namespace redco::options {

/// "2x3" for two data-parallel replicas of three tensor-parallel shards; with other axes their names, "dp=2,ep=4,tp=3".
std::string to_text(mesh const& m);

/// The mesh that `text` says: DPxTP, or axes by name in any order, each at most once; others have one rank. Numbers are at least
/// one, written without sign.
///
/// Errors: exit_code::usage.
mesh parse_mesh(std::string_view text);

}  // namespace redco::options

#ifndef REDCO_COMPILED
#include <redco/options/mesh_text.inl.hpp>
#endif
