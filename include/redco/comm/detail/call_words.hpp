#pragma once

#include <redco/comm/collective_label.hpp>
#include <redco/comm/detail/operand.hpp>
#include <redco/comm/detail/step_text.hpp>
#include <redco/comm/lifeline.hpp>
#include <redco/comm/rank_places.hpp>

#include <redco/diag/error.hpp>
#include <redco/diag/exit_code.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redco::comm::detail {

/// Returns " for 'grads'" with the collective_label of the calling thread, or an empty text if it
/// has none.
inline std::string label_text() {
  std::string_view const label = collective_label::current();
  return label.empty() ? "" : " for '" + std::string(label) + "'";
}

/// Returns a text such as "call 17 of group tp".
inline std::string call_text(std::uint64_t call, std::string const& group) {
  return "call " + std::to_string(call) + " of group " + group;
}

/// Returns a text such as "in all_reduce(sum) of Float [3] for 'grads', call 17 of group tp".
inline std::string where_text(std::string const& what, std::uint64_t call, std::string const& group) {
  return "in " + what + label_text() + ", " + call_text(call, group);
}

/// Fails the run because the ranks `missing` did not arrive. Does nothing if the run has already
/// failed.
inline void miss_peers(lifeline& line, int me, std::string const& where, std::vector<int> const& missing,
                       std::chrono::milliseconds limit) {
  std::string ranks, ended;
  for (int const rank : missing) {
    std::string const one = std::to_string(rank) + place_of_rank(rank);
    ranks += (ranks.empty() ? "" : ", ") + one;
    if (line.ended(rank)) ended += (ended.empty() ? "" : ", ") + one;
  }
  line.fail(me, exit_code::peer_lost,
            ended.empty() ? "waited " + std::to_string(limit.count()) + " ms " + step_text() + where + " for rank " +
                                ranks + ", which did not come; see what it does, or raise the deadline"
                          : "waits " + step_text() + where + " for rank " + ended +
                                ", which has ended; all ranks must make the same calls");
}

/// Fails the run because the ranks `missing` did not arrive, unless the run has already failed.
/// Throws the first failure of the run.
[[noreturn]] inline void lose_peers(lifeline& line, int me, std::string const& where, std::vector<int> const& missing,
                                    std::chrono::milliseconds limit) {
  miss_peers(line, me, where, missing, limit);
  throw line.cause();
}

/// Returns the error for a call that two ranks make with different operands.
inline error disagreement(std::uint64_t call, std::string const& group, int left, operand const& of_left, int right,
                          operand const& of_right) {
  return {exit_code::internal, "ranks disagree " + step_text() + "in " + call_text(call, group) + label_text() +
                                   ": rank " + std::to_string(left) + " has " + of_left.text() + ", rank " +
                                   std::to_string(right) + " has " + of_right.text() +
                                   "; all ranks must make the same calls with equal shapes and dtypes"};
}

}  // namespace redco::comm::detail
