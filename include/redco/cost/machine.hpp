#pragma once

#include <redco/shape/dtype.hpp>

#include <redco/diag/error.hpp>

#include <string>
#include <vector>

namespace redco::cost {

/// The measured compute speed of a machine while `ranks` ranks compute on it concurrently, each on
/// its share of the cores. All speeds are sums over these ranks.
struct compute_speed {
  dtype compute = dtype::f32;
  int ranks = 1;
  /// Speed of matrix products, in floating-point operations per second
  double operations_per_second = 1;
  /// Speed of element-wise work, in bytes as activity::bytes counts them
  double activation_bytes_per_second = 1;
  /// Speed of reading weights and accumulating gradients, in bytes as activity::weight_bytes counts
  /// them
  double weight_bytes_per_second = 1;
  /// Overhead in seconds for each tensor that activity::tensors counts, on all ranks concurrently
  double seconds_per_tensor = 0;

  friend bool operator==(compute_speed const&, compute_speed const&) = default;
};

/// The measured speed of messages inside a host: its `ranks` ranks form groups of `group` ranks
/// each, and all groups communicate concurrently.
struct group_speed {
  int group = 2;
  int ranks = 2;
  /// Seconds of a call with a minimal payload, including the wait for other ranks
  double seconds_per_call = 0;
  /// Bytes per second that one rank sends, as message_total::inside_bytes counts them
  double bytes_per_second = 1;

  friend bool operator==(group_speed const&, group_speed const&) = default;
};

/// The measured speed of messages between hosts: `of` hosts form groups of `hosts` hosts each, and
/// all groups communicate concurrently.
struct host_link {
  int hosts = 2;
  int of = 2;
  /// Number of processes that represented hosts in the measurement and ran on one machine, whose
  /// cores they shared; 1 for real hosts.
  int hosts_of_machine = 1;
  /// Seconds of a call with a minimal payload, including the wait for other hosts
  double seconds_per_call = 0;
  /// Bytes per second that one host sends for all its groups, as message_total::host_bytes counts
  /// them.
  double bytes_per_second = 1;
  double busy = 0;  ///< Fraction of its computation that a host loses while a message is in flight

  friend bool operator==(host_link const&, host_link const&) = default;
};

/// The measured speeds of a machine and of the links between several such machines. `redco-plan
/// --calibrate` measures them; `step_time_of` predicts times from them. Every speed is positive.
struct machine {
  std::string device = "cpu";  ///< Device on which the ranks compute, such as "cpu"
  std::vector<compute_speed> compute;
  std::vector<group_speed> groups;    ///< Speeds of messages between ranks of one host
  std::vector<host_link> links = {};  ///< Speeds of messages between hosts; empty if not measured
  /// Speed of the optimizer: bytes of parameters, f32 copies, gradients and optimizer state that it
  /// processes per second.
  double update_bytes_per_second = 1;

  /// Returns the speed measured for this compute dtype with the largest number of ranks that is at
  /// most `ranks`. If there is none, returns the speed for the smallest number. Throws `error` with
  /// exit code 65 if the dtype was not measured.
  compute_speed const& speed_of(dtype compute_in, int ranks) const;

  /// Returns the measured message speed inside a host whose group size is nearest to `group` on a
  /// log scale. Among speeds of this group size, chooses the number of ranks nearest to `ranks`.
  /// Throws `error` with exit code 65 if no speed inside a host was measured.
  group_speed const& group_of(int group, int ranks) const;

  /// Returns the measured link speed whose number of hosts per group is nearest to `hosts` on a log
  /// scale. Among these speeds, chooses the total number of hosts nearest to `of`. Throws `error`
  /// with exit code 65 if no link was measured.
  host_link const& link_of(int hosts, int of) const;

  friend bool operator==(machine const&, machine const&) = default;
};

}  // namespace redco::cost

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/cost/machine.inl.hpp>
#endif
