#pragma once

#include <redco/shape/mesh.hpp>

#include <redco/diag/error.hpp>

namespace redco::options {

/// The mesh of `ranks` ranks whose models are cut into `n_model_shards` shards.
///
/// Errors: exit_code::usage unless both are positive and the shards divide the ranks.
mesh mesh_of(int ranks, int n_model_shards);

}  // namespace redco::options

#ifndef REDCO_COMPILED
#include <redco/options/mesh_of.inl.hpp>
#endif
