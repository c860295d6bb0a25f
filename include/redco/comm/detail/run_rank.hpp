#pragma once

#include <redco/comm/lifeline.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/comm/rank_groups.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/tensor/memory_counter.hpp>
#include <redco/tensor/rank_environment.hpp>
#include <redco/tensor/words_of.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/exit_code.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redco::comm::detail {

/// Settings of one run (one call of world::run) that all ranks of the process share.
struct run_setup {
  lifeline& line;
  rank_groups& groups;
  int threads;  ///< number of libtorch threads per rank
  std::chrono::milliseconds later_deadline;
  tensors::function_ref<void(rank_context&)> body;
};

/// Calls `run.body` on the calling thread, which acts as `rank`. An exception of the body is
/// recorded as the failure of the run, unless another rank failed first.
inline void run_rank(run_setup const& run, int rank) noexcept {
  // Destroyed after a failure is recorded: the record ends the waits of the rank's lanes.
  std::optional<rank_context> context;
  try {
    auto const memory = std::make_shared<tensors::memory_counter>();
    tensors::rank_environment const environment("rank " + std::to_string(rank), run.threads, memory);
    context.emplace(rank, run.groups, memory, run.later_deadline);
    run.body(*context);
  } catch (error const& failure) {
    run.line.fail(rank, failure);
  } catch (std::exception const& failure) {
    run.line.fail(rank, exit_code::internal, tensors::words_of(failure));
  } catch (...) {
    run.line.fail(rank, exit_code::internal, "threw something that is not a std::exception");
  }
  context.reset();
  run.line.end(rank);
}

/// Prints the failure, calls `last(exit code)`, and ends the process. Used if the ranks `stuck`
/// have not ended in time after a failure. Their threads cannot be stopped and still use the
/// caller's data, so any other way to end the process could hang.
template <class Last>
[[noreturn]] void kill_process(lifeline const& line, std::vector<int> const& stuck, Last const& last) {
  error const cause = line.cause();
  std::string text = std::string(cause.what()) + "\n";
  for (int const rank : stuck) text += "rank " + std::to_string(rank) + " does not end: killed\n";
  std::fputs(text.c_str(), stderr);
  last(static_cast<int>(cause.code()));
  std::_Exit(static_cast<int>(cause.code()));
}

}  // namespace redco::comm::detail
