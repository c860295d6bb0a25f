#pragma once

#include <redco/comm/mpi_world.hpp>

// One of the two is empty: REDCO_WITH_MPI is defined by CMake where it finds the library.
#include <redco/comm/detail/mpi_absent.hpp>
#include <redco/comm/detail/mpi_processes.hpp>
#include <redco/config.hpp>

namespace redco::comm {

REDCO_INLINE std::unique_ptr<world> make_mpi_world(mesh const& shape, rank_options const& options) {
  return std::make_unique<detail::mpi_processes>(shape, options);
}

REDCO_INLINE void leave_mpi(int code) noexcept { detail::mpi_processes::leave(code); }

}  // namespace redco::comm
