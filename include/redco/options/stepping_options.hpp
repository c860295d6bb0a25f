#pragma once

#include <redco/options/deployer_options.hpp>

#include <redco/meta/fields_without.hpp>

namespace redco {

/// The options of a program whose training loop uses a `worker`: `deployer_options` without the
/// options that only `fit` reads, and without --recompute, which needs repeated blocks.
struct stepping_options : deployer_options {
  static constexpr auto fields() {
    return meta::fields_without<deployer_options, "cuda_graph", "recompute", "check_saved">();
  }
};

}  // namespace redco
