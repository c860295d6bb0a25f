#pragma once

#include <redco/shape/dtype.hpp>

#include <redco/diag/error.hpp>

#include <string>
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
  double bytes_per_second = 1;  ///< that a rank sends: message_total::inside_bytes

  friend bool operator==(group_speed const&, group_speed const&) = default;
};

/// What a message costs between hosts, in each of the groups of `hosts` hosts that `of` hosts form, all at once.
struct host_link {
  int hosts = 2;
  int of = 2;
  int hosts_of_machine = 1;     ///< that share one machine's cores: processes that were started on one machine
  double seconds_per_call = 0;  ///< however little is sent, waiting for the others included
  double bytes_per_second = 1;  ///< that a host sends, whatever groups it sends for: message_total::host_bytes
  double busy = 0;              ///< share of a host's cores that a message takes while it passes

  friend bool operator==(host_link const&, host_link const&) = default;
};

/// How fast a machine is, and what lies between several of them: what `redco-plan --calibrate` measures and `step_time_of` reads.
/// Every speed is positive.
struct machine {
  std::string device = "cpu";  ///< what its ranks compute on
  std::vector<compute_speed> compute;
  std::vector<group_speed> groups;     ///< inside a host
  std::vector<host_link> links = {};   ///< between hosts; empty: not measured
  double update_bytes_per_second = 1;  ///< of parameters, masters, gradients and optimizer state, once per step

  /// The speed measured with most ranks, but no more than `ranks`. Errors: exit code 65 where the dtype was not measured.
  compute_speed const& speed_of(dtype compute_in, int ranks) const;

  /// The all-reduce measured with the group size and number of ranks nearest to these, the smaller of two.
  /// Errors: exit code 65 where none was measured.
  group_speed const& group_of(int group, int ranks) const;

  /// The link measured with the numbers of hosts nearest to these. Errors: exit code 65 where none was measured.
  host_link const& link_of(int hosts, int of) const;

  friend bool operator==(machine const&, machine const&) = default;
};

}  // namespace redco::cost

#ifndef REDCO_COMPILED
#include <redco/cost/machine.inl.hpp>
#endif
