#pragma once

#include <functional>
#include <string>

namespace redco::options {

/// How the processes of a run were started.
struct launch {
  int process = 0;        ///< which one this is
  int processes = 1;      ///< all of them
  int here = 1;           ///< those on this host
  std::string by = {};    ///< the launcher, such as "torchrun"; empty for a program started by hand
  std::string host = {};  ///< where the processes find each other, with the port; empty: by MPI
  int port = 0;
  bool has_store = false;   ///< the launcher keeps a store there; else process 0 waits there for the others
  std::string run = {};     ///< tells this start from others that meet at the same port
  std::string secret = {};  ///< REDCO_SECRET: processes that do not know it are not let in

  /// It shows what a program prints.
  bool first() const { return process == 0; }
};

/// Reads what a launcher left in the environment. The first of these that is there counts:
///
///   REDCO_*                REDCO_PROCESSES, REDCO_PROCESS, REDCO_MEET=HOST:PORT [, REDCO_PROCESSES_HERE]: by hand
///   torchrun               WORLD_SIZE, RANK, LOCAL_WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT
///   mpirun                 of Open MPI (OMPI_COMM_WORLD_SIZE, _RANK, _LOCAL_SIZE) or MPICH (PMI_SIZE, PMI_RANK, MPI_LOCALNRANKS)
///   srun                   SLURM_NTASKS, SLURM_PROCID ... inside a step: behind mpirun, which starts its daemons as a step
///   PET_*                  PET_NNODES, PET_NODE_RANK, PET_MASTER_ADDR, PET_MASTER_PORT of a Kubernetes TrainJob: a process per pod
///   RANK and WORLD_SIZE    with MASTER_ADDR and MASTER_PORT, of a PyTorchJob: a process per pod
///
/// A launcher that counts one process starts one, whatever else it leaves out; so do the shells of
/// `salloc` and `sbatch`. PMIx tells a process its number alone, so that `prterun` and `prun` are
/// refused. Arguments tell nothing of this. With any of them REDCO_SECRET is a text of at least 16
/// characters that only the processes of the run know (docs/trust.md). An address of IPv6 stands in
/// brackets where a port follows it: [::1]:29500.
///
/// Errors: exit code 64 for values that cannot be meant, and for two launchers that say different things.
launch launch_of(std::function<char const*(char const* name)> const& environment);

/// The same of this process, read once.
launch const& launched();

/// "node1:29500", "[::1]:29500"
std::string meeting_place(launch const& one);

/// "4 processes that torchrun started, which meet at HOST:PORT"
std::string to_text(launch const& one);

}  // namespace redco::options

#ifndef REDCO_COMPILED
#include <redco/options/launch.inl.hpp>
#endif
