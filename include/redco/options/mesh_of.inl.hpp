#pragma once

#include <redco/options/mesh_of.hpp>

#include <redco/config.hpp>

#include <string>

namespace redco::options {

REDCO_INLINE mesh mesh_of(int ranks, int n_model_shards) {
  if (ranks < 1 || n_model_shards < 1 || ranks % n_model_shards != 0)
    throw error(exit_code::usage, std::to_string(ranks) + " ranks cannot hold copies of " +
                                      std::to_string(n_model_shards) +
                                      " model shards each: make --ranks a multiple of --n-model-shards");
  return {.dp = ranks / n_model_shards, .tp = n_model_shards};
}

}  // namespace redco::options
