#pragma once

#include <redco/comm/agreement.hpp>
#include <redco/comm/group.hpp>
#include <redco/diag/outcomes.hpp>

#include <set>
#include <string>
#include <string_view>
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

/// Returns each name in the lists of all ranks once, in order. A pipeline stage lists the tensors
/// of its own layers only. Each name in a list ends with a line break.
inline std::vector<std::string> names_of_all(std::vector<std::string> const& lists) {
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (std::string_view rest : lists) {
    while (!rest.empty()) {
      std::string_view const name = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(name.size() + 1);
      if (seen.insert(name).second) names.emplace_back(name);
    }
  }
  return names;
}

}  // namespace redco::ckpt::detail
