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

/// Returns each line of the texts of all ranks once, in order. Each line in a text ends with a line
/// break. The texts differ on pipeline stages, which list the tensors of their own layers.
inline std::vector<std::string> lines_of_all(std::vector<std::string> const& texts) {
  std::vector<std::string> lines;
  std::set<std::string_view> seen;
  for (std::string_view rest : texts) {
    while (!rest.empty()) {
      std::string_view const line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(line.size() + 1);
      if (seen.insert(line).second) lines.emplace_back(line);
    }
  }
  return lines;
}

}  // namespace redco::ckpt::detail
