#pragma once

#include <redco/comm/rank_context.hpp>
#include <redco/comm/rank_options.hpp>
#include <redco/comm/thread_world.hpp>

#include <redco/shape/mesh.hpp>

namespace redco::comm {

/// Calls `f(rank_context&)` concurrently on one thread per rank of the mesh `shape`, and returns
/// when all calls have returned. Uses a new comm::thread_world.
template <class F>
void run_ranks(mesh const& shape, rank_options const& options, F&& f) {
  comm::thread_world(shape, options).run([&f](rank_context& rank) { f(rank); });
}

}  // namespace redco::comm
