#pragma once

#include <redco/comm/rank_options.hpp>
#include <redco/comm/world.hpp>

#include <redco/shape/mesh.hpp>

#include <memory>

namespace redco::comm {

/// Returns a world for the mesh: of processes if a launcher started several (options::launched),
/// else of threads. Throws `error` with exit code 64 if the mesh has no ranks, or if their number
/// is not a multiple of the processes. Throws `error` with exit code 76 if the processes cannot
/// join.
std::unique_ptr<world> make_world(mesh const& shape, rank_options const& options);

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/make_world.inl.hpp>
#endif
