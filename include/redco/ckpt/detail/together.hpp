#pragma once

#include <redco/comm/agreement.hpp>
#include <redco/comm/group.hpp>
#include <redco/diag/outcomes.hpp>

#include <string>
#include <utility>
#include <vector>

namespace redco::ckpt::detail {

/// Runs `work()` on every rank. Returns, on all ranks, the texts of all ranks and the first error,
/// so that no rank waits forever or continues alone after a failure. `work` must not call a
/// collective. All ranks must call it. Throws only if the exchange of outcomes fails.
template <class Work>
diag::outcomes attempt_together(comm::group& world, Work work) {
  return diag::outcomes_of(comm::gather_texts(world, diag::outcome_text(work)));
}

/// Runs `work()` on every rank and returns the texts of all ranks. If it throws on one rank, every
/// rank throws that rank's error. `work` must not call a collective.
template <class Work>
std::vector<std::string> together(comm::group& world, Work work) {
  diag::outcomes result = attempt_together(world, work);
  if (result.failure) throw *result.failure;
  return std::move(result.texts);
}

}  // namespace redco::ckpt::detail
