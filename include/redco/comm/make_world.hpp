#pragma once

#include <redco/comm/rank_options.hpp>
#include <redco/comm/world.hpp>

#include <redco/shape/mesh.hpp>

#include <memory>

namespace redco::comm {

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
