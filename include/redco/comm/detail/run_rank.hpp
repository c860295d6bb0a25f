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

/// What is the same for all ranks of a run.
struct run_setup {
  lifeline& line;
  rank_groups& groups;
  int threads;  ///< of each rank's operators
  std::chrono::milliseconds later_deadline;
  function_ref<void(rank_context&)> body;
};

/// Calls the body as this rank, on its thread; whatever it throws becomes the failure of the rank, unless another came first.
inline void run_rank(run_setup const& run, int rank) noexcept {
  std::optional<rank_context> context;  // ends behind the record of a failure: what its lanes wait for ends with that
  try {
    auto const memory = std::make_shared<memory_counter>();
    rank_environment const environment("rank " + std::to_string(rank), run.threads, memory);
    context.emplace(rank, run.groups, memory, run.later_deadline);
    run.body(*context);
  } catch (error const& failure) {
    run.line.fail(rank, failure);
  } catch (std::exception const& failure) {
    run.line.fail(rank, exit_code::internal, words_of(failure));
  } catch (...) {
    run.line.fail(rank, exit_code::internal, "threw something that is not a std::exception");
  }
  context.reset();
  run.line.end(rank);
}

/// Ends the process where ranks of it have not ended in time behind a failure: they cannot be stopped and still use the caller's
/// data, so that it is the only end that cannot hang. Calls last(code) before.
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
