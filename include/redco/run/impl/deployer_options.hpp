#pragma once

#include <redco/run/deployer_options.hpp>

#include <redco/config.hpp>

namespace redco {

REDCO_INLINE mesh mesh_of(deployer_options const& o) {
  if (o.mesh) return *o.mesh;
  if (o.ranks < 1 || o.n_model_shards < 1 || o.ranks % o.n_model_shards != 0)
    throw error(exit_code::usage, std::to_string(o.ranks) + " ranks cannot hold copies of " +
                                      std::to_string(o.n_model_shards) +
                                      " model shards each: make --ranks a multiple of --n-model-shards");
  return {o.ranks / o.n_model_shards, o.n_model_shards};
}

}  // namespace redco
