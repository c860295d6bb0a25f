#pragma once

#include <redco/comm/world.hpp>
#include <redco/shape/mesh.hpp>

#include <memory>

namespace redco::comm {

/// Returns a world of the processes that a launcher started (see options::launched). Each process
/// has the same number of ranks, one thread per rank. Processes use TCP if a meeting address is
/// known, else MPI (mpirun). Sums are bit-equal to a thread world's if each process has one rank,
/// or with rank_options::deterministic. After a failure that all processes survive, another run may
/// follow.
///
/// Throws `error` with exit code 64 for a wrong number of ranks. Throws it with 76 if the processes
/// do not connect in time or redco lacks MPI.
std::unique_ptr<world> make_process_world(mesh const& shape, rank_options const& options);

/// Announces to the other processes that this process ends with `code`, and waits for them. Without
/// the wait, the launcher could kill a process that still has a message to print. redco::main_of
/// calls this function last. Does nothing if there are no other processes.
void leave_processes(int code) noexcept;

/// Returns a world for the mesh. Its ranks are in several processes if a launcher started several
/// (see options::launched), else they are threads. Throws `error` with exit code 64 if the number
/// of ranks is 0 or not a multiple of the number of processes. Throws `error` with exit code 76 if
/// the processes cannot connect.
std::unique_ptr<world> make_world(mesh const& shape, rank_options const& options);

}  // namespace redco::comm

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/make_world.inl.hpp>
#endif
