#pragma once

#include <redco/shape/mesh.hpp>

#include <redco/diag/error.hpp>

namespace redco::options {

/// Returns the mesh of `ranks` ranks in which each replica has `n_model_shards` tensor-parallel
/// shards.
///
/// Throws `error` with exit code 64 unless both numbers are positive and `n_model_shards` divides
/// `ranks`.
mesh mesh_of(int ranks, int n_model_shards);

}  // namespace redco::options

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/mesh_of.inl.hpp>
#endif
