#pragma once

#include <redco/cost/setup.hpp>

#include <redco/model/model.hpp>
#include <redco/shape/mesh.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>

namespace redco::cost {

/// Refuses a count below `least`. Errors: exit code 64 with the name and the value.
constexpr void check_count(char const* name, std::int64_t value, std::int64_t least) {
  if (value < least)
    throw error(exit_code::usage,
                std::string(name) + " is " + std::to_string(value) + ": give " + std::to_string(least) + " or more");
}

/// Refuses a batch without examples and examples without length. Errors: exit code 64.
constexpr void check_load(workload const& load) {
  check_count("the number of examples (batch)", load.batch, 1);
  check_count("the length of an example (sequence)", load.sequence, 1);
  check_count("the length of what an encoder reads (source)", load.source, 0);
}

/// Refuses a mesh with an axis without ranks. Errors: exit code 64.
constexpr void check_axes(mesh const& on) {
  for (axis const a : all_axes) check_count("the size of a mesh axis", on[a], 1);
}

/// Refuses a run that no rank can compute. Errors: exit code 64.
constexpr void check_setup(setup const& s) {
  check_axes(s.mesh);
  check_load(s.load);
  check_count("the number of micro-batches", s.micro_batches, 1);
  check_count("the number of batches prepared ahead (prefetch)", s.prefetch, 0);
  check_count("the bytes of a gradient bucket", s.gradient_bucket, 0);
}

}  // namespace redco::cost
