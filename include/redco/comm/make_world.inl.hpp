#pragma once

#include <redco/comm/make_world.hpp>

#include <redco/comm/detail/answers.hpp>
#include <redco/comm/detail/process_session.hpp>
#include <redco/comm/detail/processes.hpp>
// Either mpi_absent.hpp or mpi_session.hpp is empty: CMake defines REDCO_WITH_MPI if it finds MPI.
#include <redco/comm/detail/mpi_absent.hpp>
#include <redco/comm/detail/mpi_session.hpp>
#include <redco/comm/detail/socket_session.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/options/launch.hpp>
#include <redco/config.hpp>

#include <cstdlib>
#include <memory>

namespace redco::comm::detail {

/// A process's connection with the other processes of its launcher. It lives from the creation of
/// the first world to the end of the process.
struct membership {
  /// Connection of this process with all other processes, or null before the first world. Never
  /// destroyed, because code at the end of the process still uses it.
  process_session* session = nullptr;
  std::unique_ptr<keeper> alive = {};

  static membership& own() {
    static auto* const one = new membership;
    return *one;
  }
};

}  // namespace redco::comm::detail

namespace redco::comm {

REDCO_INLINE std::unique_ptr<world> make_process_world(mesh const& shape, rank_options const& options) {
  detail::membership& own = detail::membership::own();
  if (own.session == nullptr) {
    options::launch const& how = options::launched();
    own.session =
        (how.host.empty() ? detail::join_by_mpi() : detail::join_by_sockets(how, options.first_deadline)).release();
    own.alive = std::make_unique<detail::keeper>(*own.session);
    std::atexit([] { leave_processes(0); });
  }
  return std::make_unique<detail::processes>(shape, options, *own.session);
}

REDCO_INLINE void leave_processes(int code) noexcept {
  detail::membership& own = detail::membership::own();
  own.alive.reset();
  if (own.session != nullptr) own.session->leave(code);
}

REDCO_INLINE std::unique_ptr<world> make_world(mesh const& shape, rank_options const& options) {
  if (options::launched().processes > 1) return make_process_world(shape, options);
  return std::make_unique<thread_world>(shape, options);
}

}  // namespace redco::comm
