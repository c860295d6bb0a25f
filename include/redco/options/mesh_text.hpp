#pragma once

#include <redco/shape/mesh.hpp>

#include <redco/diag/error.hpp>

#include <string>
#include <string_view>

namespace redco::options {

/// Returns "2x3" for two data-parallel replicas of three tensor-parallel shards. Other axes are
/// written by name: "dp=2,ep=4,tp=3".
std::string to_text(mesh const& m);

/// Returns the mesh written in `text`: DPxTP, or axes by name in any order. Axes that are not named
/// have extent 1. Numbers are at least 1 and unsigned.
///
/// Throws `error` with exit code 64 for any other text.
mesh parse_mesh(std::string_view text);

}  // namespace redco::options

#ifndef REDCO_COMPILED
#include <redco/options/mesh_text.inl.hpp>
#endif
