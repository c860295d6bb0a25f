#pragma once

#include <redco/comm/rank_options.hpp>
#include <redco/comm/world.hpp>

#include <redco/shape/mesh.hpp>

#include <memory>

namespace redco::comm {

/// Returns a world of the processes that a launcher started (options::launched), with equally many
/// ranks in each, one thread per rank. Processes with a known meeting address communicate by TCP,
/// others (mpirun) by MPI. Sums are bit-equal to those of a thread world if each process has one
/// rank, or with `deterministic`. If every process survives a failure, another run may follow.
///
/// Throws `error` with exit code 64 if the number of ranks is not a multiple of the processes.
/// Throws it with 76 if the processes do not meet within the first deadline, or if redco lacks the
/// MPI that they need.
std::unique_ptr<world> make_process_world(mesh const& shape, rank_options const& options);

/// Announces to the other processes that this process ends with `code`, and waits for them. Without
/// the wait, the launcher could kill a process that still has a message to print. The function
/// main_of() calls it last. Does nothing if there are no other processes.
void leave_processes(int code) noexcept;

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/process_world.inl.hpp>
#endif
