#pragma once

#ifndef REDCO_WITH_MPI

#include <redco/comm/detail/process_session.hpp>
#include <redco/options/launch.hpp>

#include <redco/diag/error.hpp>

#include <memory>
#include <string>

namespace redco::comm::detail {

/// Throws `error` with exit code 76; the message says what to install. Used in place of the MPI
/// version of this function if CMake did not find MPI.
inline std::unique_ptr<process_session> join_by_mpi() {
  options::launch const& how = options::launched();
  throw error(exit_code::rendezvous, how.launcher + " started " + std::to_string(how.processes) +
                                         " processes, and this program was built without MPI: install "
                                         "libopenmpi-dev, configure again and rebuild");
}

}  // namespace redco::comm::detail

#endif
