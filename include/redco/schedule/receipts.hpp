#pragma once

#include <redco/schedule/step_of.hpp>

#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

namespace redco::schedule {

/// A message between two chunks of blocks for a micro-batch: hidden states to the next chunk, or
/// their gradients to the preceding one.
struct stage_message {
  std::int16_t from = 0, to = 0;
  std::int32_t micro = 0;

  friend constexpr auto operator<=>(stage_message const&, stage_message const&) = default;
};

/// A message of a stage, and the messages that have arrived there before: those from the receiver
/// of `sent` since the preceding message to this receiver.
struct receipt {
  stage_message sent;
  std::vector<stage_message> arrived;
};

/// Returns the messages that the stage `from` sends to the stage `to` in a step, in order. When a
/// message is here, the receiver knows that its own messages in receipt::arrived have arrived. `of`
/// has the numbers of the step; its member `stage` is ignored.
constexpr std::vector<receipt> receipts_of(step_facts of, int from, int to) {
  std::vector<receipt> all;
  std::vector<stage_message> arrived;
  of.stage = from;
  for (step_op const& one : step_of(of)) {
    if (one.operation == op::receive && one.other % of.stages == to)
      arrived.push_back({one.other, one.chunk, one.micro});
    if (one.operation == op::send && one.other % of.stages == to)
      all.push_back({{one.chunk, one.other, one.micro}, std::exchange(arrived, {})});
  }
  return all;
}

}  // namespace redco::schedule
