#pragma once

#include <redco/comm/rank_options.hpp>
#include <redco/comm/world.hpp>

#include <redco/shape/mesh.hpp>

#include <memory>

namespace redco::comm {

/// A world whose ranks are processes that MPI joins, one rank each: this process has the rank of its number. Everything is as with
/// threads, to the bits of sums. Behind a failure that every process outlives another run may follow.
///
/// Errors: exit code 64 for a mesh of other ranks than processes; 76 where redco was built without MPI, or the processes do not
/// find each other.
std::unique_ptr<world> make_mpi_world(mesh const& shape, rank_options const& options);

/// Tells the other processes that this one ends with `code`, and waits for them, so that the launcher ends none that still has
/// something to tell. What main_of does at last; nothing where there are no others.
void leave_mpi(int code) noexcept;

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/mpi_world.inl.hpp>
#endif
