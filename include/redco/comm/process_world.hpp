#pragma once

#include <redco/comm/rank_options.hpp>
#include <redco/comm/world.hpp>

#include <redco/shape/mesh.hpp>

#include <memory>

namespace redco::comm {

/// A world whose ranks are the processes that a launcher started (options::launched), one rank each: this process has the rank of
/// its number. MPI joins those of mpirun, TCP connections those that know where to meet. Everything is as with threads, to the bits
/// of sums. Behind a failure that every process outlives another run may follow.
///
/// Errors: exit code 64 for a mesh of other ranks than processes; 76 where the processes do not find each other in the first
/// deadline, or redco was built without the MPI that they need.
std::unique_ptr<world> make_process_world(mesh const& shape, rank_options const& options);

/// Tells the other processes that this one ends with `code`, and waits for them, so that the launcher ends none that still has
/// something to tell. What main_of does at last; nothing where there are no others.
void leave_processes(int code) noexcept;

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/process_world.inl.hpp>
#endif
