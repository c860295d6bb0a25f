#pragma once

#include <functional>
#include <string>

namespace redco::options {

/// The process layout of a run, as set by a launcher such as torchrun, mpirun or srun.
struct launch {
  int process = 0;        ///< index of this process
  int processes = 1;      ///< number of processes of the run
  int here = 1;           ///< number of processes on this host
  std::string by = {};    ///< name of the launcher, such as "torchrun"; empty if started by hand
  std::string host = {};  ///< host of the rendezvous with `port`; empty if processes meet by MPI
  int port = 0;
  /// True if the launcher runs a store at the rendezvous. Otherwise process 0 listens there.
  bool has_store = false;
  std::string run = {};     ///< identifies this start among others that meet at an equal port
  std::string secret = {};  ///< value of REDCO_SECRET; processes without this secret are rejected

  /// Returns true for process 0, which prints the program's output.
  bool first() const { return process == 0; }
};

/// Returns the process layout from environment variables. Uses the first launcher that set
/// variables, in this order: REDCO_*, torchrun, mpirun (Open MPI or MPICH), srun, PET_* (Kubernetes
/// TrainJob), RANK and WORLD_SIZE (PyTorchJob). README.md lists the variables. REDCO_SECRET, if
/// set, needs at least 16 characters.
///
/// Throws `error` with exit code 64 for invalid values, and if two launchers contradict each other.
/// Also throws 64 under prterun and prun, because PMIx gives no number of processes.
launch launch_of(std::function<char const*(char const* name)> const& environment);

/// Returns launch_of() for the environment of this process, read once.
launch const& launched();

/// Returns the address of the rendezvous: "node1:29500" or "[::1]:29500".
std::string meeting_place(launch const& one);

/// Returns a description such as "4 processes that torchrun started, which meet at HOST:PORT".
std::string to_text(launch const& one);

}  // namespace redco::options

#ifndef REDCO_COMPILED
#include <redco/options/launch.inl.hpp>
#endif
