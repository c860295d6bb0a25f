#pragma once

#include <redco/comm/rank_options.hpp>
#include <redco/comm/world.hpp>

#include <redco/shape/mesh.hpp>

#include <memory>

namespace redco::comm {

/// The world of this mesh: processes where a launcher started several (options::launched), else threads. Errors: exit code 64 for
/// a mesh without ranks, or of other ranks than processes; 76 where this program cannot join the others.
std::unique_ptr<world> make_world(mesh const& shape, rank_options const& options);

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/make_world.inl.hpp>
#endif
