#pragma once

#include <redco/comm/rank_context.hpp>

#include <redco/shape/mesh.hpp>

#include <redco/tensor/function_ref.hpp>

#include <chrono>

namespace redco {

/// How run_ranks waits and how many threads each rank's operators use.
struct rank_options {
  std::chrono::milliseconds first_deadline{300'000};  ///< for every wait until rank_context::first_step_done
  std::chrono::milliseconds deadline{120'000};        ///< for every later wait
  std::chrono::milliseconds grace{8'000};             ///< from the first failure until all ranks must have ended
  int threads = 0;                                    ///< per rank; 0: what libtorch would use, shared by the ranks
};

}  // namespace redco

namespace redco::comm::detail {

/// run_ranks for callables of one type.
void run_on_ranks(mesh const& shape, rank_options const& options, function_ref<void(rank_context&)> f);

}  // namespace redco::comm::detail

namespace redco {

/// Calls `f(rank_context&)` on one new thread per rank of `shape` and returns when all have returned.
///
/// `f` is called by all ranks at once. The first failure of a rank ends the others' waits; when all have ended it is
/// thrown as one `error` whose text starts with its rank ("rank 1: ..."), with the failure's own exit code, or
/// `internal` for exceptions that are no redco errors. A rank that returns while others wait for it is a lost peer
/// (`peer_lost`). If a rank does not end within `options.grace` after a failure, the process prints the failure and
/// exits with its code.
template <class F>
void run_ranks(mesh const& shape, rank_options const& options, F&& f) {
  comm::detail::run_on_ranks(shape, options, [&f](rank_context& rank) { f(rank); });
}

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/comm/ranks.inl.hpp>
#endif
