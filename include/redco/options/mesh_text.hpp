#pragma once

#include <redco/shape/mesh.hpp>

#include <redco/diag/error.hpp>

#include <string>
#include <string_view>

namespace redco::options {

/// Returns the text of a mesh for --mesh, such as "2x3" for two data-parallel replicas of three
/// tensor-parallel shards. Meshes with other axes are written by name: "dp=2,ep=4,tp=3".
std::string to_text(mesh const& m);

/// Returns the mesh written in `text`: DPxTP, or axes by name in any order, such as "dp=2,tp=3". An
/// axis that is not named has size 1. Sizes are unsigned numbers of at least 1.
///
/// Throws `error` with exit code 64 for any other text.
mesh parse_mesh(std::string_view text);

}  // namespace redco::options

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/mesh_text.inl.hpp>
#endif
