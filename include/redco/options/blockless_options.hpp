#pragma once

#include <redco/options/deployer_options.hpp>

#include <redco/meta/field_named.hpp>
#include <redco/meta/fields.hpp>

namespace redco {

/// The `deployer_options` of a program whose model repeats no blocks: its command line offers no
/// recomputation, which computes blocks again.
struct blockless_options : deployer_options {
  static constexpr auto fields() {
    using o = deployer_options;
    return redco::fields(field_named<o, "ranks">(), field_named<o, "n_model_shards">(), field_named<o, "mesh">(),
                         field_named<o, "workdir">(), field_named<o, "seed">(), field_named<o, "device">(),
                         field_named<o, "dtype">(), field_named<o, "tf32">(), field_named<o, "cuda_graph">(),
                         field_named<o, "resume">(), field_named<o, "threads">(), field_named<o, "deadline">(),
                         field_named<o, "overlap">(), field_named<o, "gradient_bucket">(),
                         field_named<o, "deterministic">(), field_named<o, "quiet">(), field_named<o, "check_saved">(),
                         field_named<o, "verify">(), field_named<o, "verify_steps">());
  }
};

}  // namespace redco
