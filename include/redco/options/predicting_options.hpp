#pragma once

#include <redco/options/deployer_options.hpp>

#include <redco/meta/field_named.hpp>
#include <redco/meta/fields.hpp>

namespace redco {

/// The options of a program that only predicts: `deployer_options` without --workdir and all
/// options that only training reads.
struct predicting_options : deployer_options {
  static constexpr auto fields() {
    using o = deployer_options;
    return redco::fields(field_named<o, "ranks">(), field_named<o, "n_model_shards">(), field_named<o, "mesh">(),
                         field<"seed">(&o::seed, "of what is drawn"), field_named<o, "device">(),
                         field_named<o, "dtype">(), field_named<o, "tf32">(), field_named<o, "threads">(),
                         field_named<o, "deadline">(), field_named<o, "deterministic">());
  }
};

}  // namespace redco
