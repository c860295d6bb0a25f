#pragma once

#include <functional>
#include <string>

namespace redco::options {

/// How the processes of a run were started.
struct launch {
  int process = 0;    ///< which one this is
  int processes = 1;  ///< all of them
  int here = 1;       ///< those on this host
  std::string by;     ///< the launcher: "mpirun"; empty for a program started by hand

  /// It shows what a program prints.
  bool first() const { return process == 0; }
};

/// What a launcher left in the environment: mpirun of Open MPI (OMPI_COMM_WORLD_SIZE, _RANK, _LOCAL_SIZE) or of MPICH (PMI_SIZE,
/// PMI_RANK, MPI_LOCALNRANKS). Errors: exit code 64 for values that are no such numbers.
launch launch_of(std::function<char const*(char const* name)> const& environment);

/// The same of this process, read once.
launch const& launched();

}  // namespace redco::options

#ifndef REDCO_COMPILED
#include <redco/options/launch.inl.hpp>
#endif
