#pragma once

#ifndef REDCO_WITH_MPI

#include <redco/comm/rank_options.hpp>
#include <redco/comm/world.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/options/launch.hpp>
#include <redco/shape/mesh.hpp>

#include <redco/diag/error.hpp>
#include <redco/diag/exit_code.hpp>

#include <string>

namespace redco::comm::detail {

/// Stands in for processes that MPI joins where CMake did not find it.
class mpi_processes final : public world {
 public:
  mpi_processes(mesh const&, rank_options const&) {
    options::launch const& how = options::launched();
    throw error(exit_code::rendezvous, how.by + " started " + std::to_string(how.processes) +
                                           " processes, and this program was built without MPI: install "
                                           "libopenmpi-dev, configure again and rebuild");
  }

  void run(function_ref<void(rank_context&)>) override {}
  static void leave(int) noexcept {}
};

}  // namespace redco::comm::detail

#endif
