#pragma once

#include <redco/shape/dtype.hpp>

#include <redco/diag/error.hpp>

#include <string>
#include <vector>

namespace redco::cost {

/// Compute speed of a machine while `ranks` ranks run on it at once, each on its share of the
/// cores. All numbers are totals over the machine.
struct compute_speed {
  dtype compute = dtype::f32;
  int ranks = 1;
  double operations_per_second = 1;  ///< speed of matrix products
  /// Speed of element-wise work, relative to activity::bytes
  double activation_bytes_per_second = 1;
  /// Speed of reading weights, relative to activity::weight_bytes
  double weight_bytes_per_second = 1;
  /// Overhead per tensor of activity::tensors, on every rank at once
  double seconds_per_tensor = 0;

  friend bool operator==(compute_speed const&, compute_speed const&) = default;
};

/// Speed of messages in groups of `group` ranks inside a host, while the groups of all `ranks`
/// ranks communicate at once.
struct group_speed {
  int group = 2;
  int ranks = 2;
  /// Latency of a call with minimal payload, including waiting for other ranks
  double seconds_per_call = 0;
  /// Bytes per second that a rank sends, relative to message_total::inside_bytes
  double bytes_per_second = 1;

  friend bool operator==(group_speed const&, group_speed const&) = default;
};

/// Speed of messages between hosts, in groups of `hosts` hosts, while the groups of all `of` hosts
/// communicate at once.
struct host_link {
  int hosts = 2;
  int of = 2;
  /// Number of hosts that share one machine's cores, for processes started on one machine.
  int hosts_of_machine = 1;
  /// Latency of a call with minimal payload, including waiting for other hosts
  double seconds_per_call = 0;
  /// Bytes per second that a host sends for all its groups, relative to message_total::host_bytes.
  double bytes_per_second = 1;
  double busy = 0;  ///< share of a host's cores that a message in flight takes

  friend bool operator==(host_link const&, host_link const&) = default;
};

/// Speeds of a machine and of the links between several such machines. Measured by `redco-plan
/// --calibrate` and read by `step_time_of`. Every speed is positive.
struct machine {
  std::string device = "cpu";  ///< device on which the ranks compute
  std::vector<compute_speed> compute;
  std::vector<group_speed> groups;    ///< speeds of messages inside a host
  std::vector<host_link> links = {};  ///< speeds of messages between hosts; empty if not measured
  /// Bytes of parameters, masters, gradients and optimizer state that an update processes per
  /// second.
  double update_bytes_per_second = 1;

  /// Returns the speed measured with the largest number of ranks up to `ranks`, otherwise with the
  /// smallest number above. Throws `error` with exit code 65 if the type was not measured.
  compute_speed const& speed_of(dtype compute_in, int ranks) const;

  /// Returns the all-reduce speed measured with the group size and number of ranks nearest to these
  /// on a log scale. Throws `error` with exit code 65 if none was measured.
  group_speed const& group_of(int group, int ranks) const;

  /// Returns the link speed measured with the numbers of hosts nearest to these on a log scale.
  /// Throws `error` with exit code 65 if none was measured.
  host_link const& link_of(int hosts, int of) const;

  friend bool operator==(machine const&, machine const&) = default;
};

}  // namespace redco::cost

#ifndef REDCO_COMPILED
#include <redco/cost/machine.inl.hpp>
#endif
