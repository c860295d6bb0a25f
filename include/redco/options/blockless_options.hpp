#pragma once

#include <redco/options/deployer_options.hpp>

#include <redco/meta/fields_without.hpp>

namespace redco::options {

/// The options of a program whose model has no repeated blocks: `deployer_options` without
/// --recompute, because recomputation works on repeated blocks.
struct blockless_options : deployer_options {
  static constexpr auto fields() { return meta::fields_without<deployer_options, "recompute">(); }
};

}  // namespace redco::options
