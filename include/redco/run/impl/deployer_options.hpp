#pragma once

#include <redco/run/deployer_options.hpp>

#include <redco/options/mesh_of.hpp>

#include <redco/config.hpp>

namespace redco {

REDCO_INLINE mesh mesh_of(deployer_options const& o) {
  return o.mesh ? *o.mesh : options::mesh_of(o.ranks, o.n_model_shards);
}

}  // namespace redco
