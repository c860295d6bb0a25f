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

/// Returns the collective_label (purpose of a collective) of the calling thread as part of a
/// sentence, for example " for 'grads'". Returns an empty text if the thread has no label.
inline std::string label_text() {
  std::string_view const label = collective_label::current();
  return label.empty() ? "" : " for '" + std::string(label) + "'";
}

/// Returns the name of a collective call for messages, for example "call 17 of group tp".
inline std::string call_text(std::uint64_t call, std::string const& group) {
  return "call " + std::to_string(call) + " of group " + group;
}

/// Returns the end of a sentence that names a collective call, for example "in all_reduce(sum) of
/// Float [3] for 'grads', call 17 of group tp". `what` is the description of the operation.
inline std::string where_text(std::string const& what, std::uint64_t call, std::string const& group) {
  return "in " + what + label_text() + ", " + call_text(call, group);
}

/// Marks the run as failed because the ranks `missing` did not reach the call `where` within
/// `limit`. Does nothing if the run has already failed.
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

/// Marks the run as failed because the ranks `missing` did not reach the call `where`, unless the
/// run has already failed. Then throws the error of the first failure of the run.
[[noreturn]] inline void lose_peers(lifeline& line, int me, std::string const& where, std::vector<int> const& missing,
                                    std::chrono::milliseconds limit) {
  miss_peers(line, me, where, missing, limit);
  throw line.cause();
}

/// Returns the error for a collective that two ranks call with different operands (operation, shape
/// or dtype). `left` and `right` are the two ranks.
inline error disagreement(std::uint64_t call, std::string const& group, int left, operand const& of_left, int right,
                          operand const& of_right) {
  return {exit_code::internal, "ranks disagree " + step_text() + "in " + call_text(call, group) + label_text() +
                                   ": rank " + std::to_string(left) + " has " + of_left.text() + ", rank " +
                                   std::to_string(right) + " has " + of_right.text() +
                                   "; all ranks must make the same calls with equal shapes and dtypes"};
}

}  // namespace redco::comm::detail
