#pragma once

#include <redco/cost/setup.hpp>

#include <redco/model/model.hpp>
#include <redco/shape/mesh.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>

namespace redco::cost {

/// Throws `error` with exit code 64 if `value` is below `least`. The message contains `name`, the
/// name of the setting, and the value.
constexpr void check_count(char const* name, std::int64_t value, std::int64_t least) {
  if (value < least)
    throw error(exit_code::usage,
                std::string(name) + " is " + std::to_string(value) + ": give " + std::to_string(least) + " or more");
}

/// Throws `error` with exit code 64 if the batch has no examples, if examples have no tokens, or if
/// the encoder's length is negative.
constexpr void check_load(workload const& load) {
  check_count("the number of examples (batch)", load.batch, 1);
  check_count("the length of an example (sequence)", load.sequence, 1);
  check_count("the length of what an encoder reads (source)", load.source, 0);
}

/// Throws `error` with exit code 64 if the size of a mesh axis is below 1.
constexpr void check_axes(mesh const& on) {
  for (shape::axis const a : shape::all_axes) check_count("the size of a mesh axis", on[a], 1);
}

/// Throws `error` with exit code 64 if a setting of the run is impossible, such as a mesh axis of
/// size 0 or no micro-batches.
constexpr void check_setup(setup const& s) {
  check_axes(s.mesh);
  check_load(s.load);
  check_count("the number of micro-batches", s.micro_batches, 1);
  check_count("the number of batches prepared ahead (prefetch)", s.prefetch, 0);
  check_count("the bytes of a gradient bucket", s.gradient_bucket, 0);
}

}  // namespace redco::cost
