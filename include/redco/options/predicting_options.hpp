#pragma once

#include <redco/options/deployer_options.hpp>

#include <redco/meta/field_named.hpp>
#include <redco/meta/fields.hpp>

namespace redco::options {

/// The options of a program that only predicts: `deployer_options` without --workdir and all
/// options that only training reads.
struct predicting_options : deployer_options {
  static constexpr auto fields() {
    using o = deployer_options;
    return redco::fields(meta::field_named<o, "ranks">(), meta::field_named<o, "n_model_shards">(),
                         meta::field_named<o, "mesh">(), field<"seed">(&o::seed, "of what is drawn"),
                         meta::field_named<o, "device">(), meta::field_named<o, "dtype">(),
                         meta::field_named<o, "tf32">(), meta::field_named<o, "threads">(),
                         meta::field_named<o, "deadline">(), meta::field_named<o, "deterministic">());
  }
};

}  // namespace redco::options
