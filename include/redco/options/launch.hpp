#pragma once

#include <functional>
#include <string>

namespace redco::options {

/// The processes of a run, as a launcher such as torchrun, mpirun or srun has started them.
struct launch {
  int process = 0;            ///< index of this process in the run
  int processes = 1;          ///< number of processes of the run
  int processes_on_host = 1;  ///< number of the run's processes on this host
  std::string launcher = {};  ///< name, such as "torchrun"; empty without a launcher
  /// Host at which the processes connect, on the port `port`; empty if they connect by MPI.
  std::string host = {};
  int port = 0;
  /// True if the launcher runs torch's key-value store at `host` and `port`. Otherwise process 0
  /// listens there.
  bool has_store = false;
  std::string start_id = {};  ///< id of this start; separates it from other runs at the same port
  std::string secret = {};    ///< value of REDCO_SECRET; processes with another secret are rejected
  /// True if REDCO_TRUSTED_NETWORK is 1: processes may meet on a network without a secret.
  bool trusts_network = false;

  /// Returns true for process 0, which prints the program's output.
  bool first() const { return process == 0; }
};

/// Returns the processes of a run, read from environment variables. Uses the first launcher whose
/// variables are set, in this order: REDCO_*, torchrun, mpirun (Open MPI or MPICH), srun, PET_*
/// (Kubernetes TrainJob), RANK and WORLD_SIZE (PyTorchJob). README.md lists the variables.
///
/// Throws `error` with exit code 64 for invalid values, for a REDCO_SECRET under 16 characters, for
/// a REDCO_TRUSTED_NETWORK other than 0 and 1, and if two launchers contradict each other. Also
/// throws 64 under prterun and prun, because PMIx gives no number of processes.
launch launch_of(std::function<char const*(char const* name)> const& environment);

/// Returns the processes of this run, read once from this process's environment variables.
launch const& launched();

/// Returns the address at which the processes of a run connect, such as "node1:29500" or
/// "[::1]:29500".
inline std::string meeting_address(launch const& one) {
  bool const brackets = one.host.find(':') != std::string::npos;
  return (brackets ? "[" + one.host + "]" : one.host) + ":" + std::to_string(one.port);
}

/// Returns true if only programs on this host can reach the address at which the processes connect.
/// Processes that are all on this host connect by loopback, unless they were given the number of
/// another address.
inline bool meets_on_this_host(launch const& one) {
  bool const loopback = one.host == "localhost" || one.host.starts_with("127.") || one.host == "::1";
  bool const number =
      one.host.find(':') != std::string::npos || one.host.find_first_not_of("0123456789.") == std::string::npos;
  return loopback || (one.processes_on_host == one.processes && (one.has_store || !number));
}

/// Returns a sentence on who can join the run without a secret. Returns "" if REDCO_SECRET is set,
/// or if the processes connect by MPI.
std::string joining_without_secret(launch const& one);

/// Returns a description of the processes of a run for messages, such as "4 processes that torchrun
/// started, which meet at HOST:PORT".
inline std::string to_text(launch const& one) {
  return std::to_string(one.processes) + " processes that " + one.launcher + " started, which meet " +
         (one.host.empty() ? "by MPI" : "at " + meeting_address(one));
}

}  // namespace redco::options

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/launch.inl.hpp>
#endif
