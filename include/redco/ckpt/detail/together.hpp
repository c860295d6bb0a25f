#pragma once

#include <redco/comm/gather_texts.hpp>
#include <redco/comm/group.hpp>
#include <redco/diag/outcomes.hpp>

#include <string>
#include <utility>
#include <vector>

namespace redco::ckpt::detail {

/// Runs `work()`, which returns a text and calls no collective, on every rank, and tells all ranks how it went on each,
/// so that no one is left waiting and no one goes on alone. Throws only when the group itself fails.
template <class Work>
diag::outcomes attempt_together(group& world, Work work) {
  return diag::outcomes_of(comm::gather_texts(world, diag::told_outcome(work)));
}

/// The same, and throws the failure on every rank.
template <class Work>
std::vector<std::string> together(group& world, Work work) {
  diag::outcomes result = attempt_together(world, work);
  if (result.failure) throw *result.failure;
  return std::move(result.texts);
}

}  // namespace redco::ckpt::detail
