#pragma once

#include <redco/shape/dtype.hpp>

#include <redco/diag/error.hpp>

#include <vector>

namespace redco::cost {

/// What a machine does while so many ranks run on it at once, each on its share of the cores. Everything is counted over
/// the whole machine: ranks that share its cores share these numbers.
struct compute_speed {
  dtype compute = dtype::f32;
  int ranks = 1;
  double operations_per_second = 1;        ///< of matrix products
  double activation_bytes_per_second = 1;  ///< of activity::bytes: everything that is done element by element
  double weight_bytes_per_second = 1;      ///< of activity::weight_bytes
  double seconds_per_tensor = 0;           ///< of activity::tensors, on every rank at once

  friend bool operator==(compute_speed const&, compute_speed const&) = default;
};

/// What a message costs in each of the groups of `group` ranks that `ranks` ranks form, all at once.
struct group_speed {
  int group = 2;
  int ranks = 2;
  double seconds_per_call = 0;  ///< however little is sent, waiting for the others included
  double bytes_per_second = 1;  ///< that a rank sends: message_total::wire_bytes

  friend bool operator==(group_speed const&, group_speed const&) = default;
};

/// How fast a machine is: what `redco-plan --calibrate` measures and `step_time_of` reads. Every speed is positive.
struct machine {
  std::vector<compute_speed> compute;
  std::vector<group_speed> groups;
  double update_bytes_per_second = 1;  ///< of parameters, masters, gradients and optimizer state, once per step

  /// The speed measured with most ranks, but no more than `ranks`. Errors: exit code 65 where the dtype was not measured.
  compute_speed const& speed_of(dtype compute_in, int ranks) const;

  /// The all-reduce measured with the group size and number of ranks nearest to these, the smaller of two.
  /// Errors: exit code 65 where none was measured.
  group_speed const& group_of(int group, int ranks) const;

  friend bool operator==(machine const&, machine const&) = default;
};

}  // namespace redco::cost

#ifndef REDCO_COMPILED
#include <redco/cost/machine.inl.hpp>
#endif
