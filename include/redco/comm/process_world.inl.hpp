#pragma once

#include <redco/comm/process_world.hpp>

#include <redco/comm/detail/processes.hpp>
// One of the two is empty: REDCO_WITH_MPI is defined by CMake where it finds the library.
#include <redco/comm/detail/mpi_absent.hpp>
#include <redco/comm/detail/mpi_session.hpp>
#include <redco/comm/detail/socket_session.hpp>
#include <redco/options/launch.hpp>
#include <redco/config.hpp>

#include <cstdlib>

namespace redco::comm {

namespace detail {

/// This process's one session, which what ends the process still needs; null before the first world.
inline process_session*& session() {
  static process_session* one = nullptr;
  return one;
}

}  // namespace detail

REDCO_INLINE std::unique_ptr<world> make_process_world(mesh const& shape, rank_options const& options) {
  if (detail::session() == nullptr) {
    options::launch const& how = options::launched();
    detail::session() =
        (how.host.empty() ? detail::join_by_mpi() : detail::join_by_sockets(how, options.first_deadline)).release();
    std::atexit([] { leave_processes(0); });
  }
  return std::make_unique<detail::processes>(shape, options, *detail::session());
}

REDCO_INLINE void leave_processes(int code) noexcept {
  if (detail::session() != nullptr) detail::session()->leave(code);
}

}  // namespace redco::comm
