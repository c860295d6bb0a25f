#pragma once

#include <redco/options/deployer_options.hpp>

#include <redco/meta/fields_without.hpp>

namespace redco {

/// The `deployer_options` of a program that runs its own steps with a `worker`. Omits the options
/// that only `fit` reads, and --recompute, which needs repeated blocks.
struct stepping_options : deployer_options {
  static constexpr auto fields() {
    return fields_without<deployer_options, "cuda_graph", "recompute", "check_saved">();
  }
};

}  // namespace redco
