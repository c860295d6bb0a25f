#pragma once

#include <cstdint>
#include <string_view>

namespace redco::schedule {

/// A kind of operation of a rank in an optimizer step.
enum class op : std::uint8_t {
  forward,           ///< computes the loss of a micro-batch
  total_counts,      ///< sums the counts of a multi-term loss over replicas
  backward,          ///< adds the gradients of a micro-batch to the step's gradients
  compute,           ///< forward and backward of a micro-batch in one operation
  end_round,         ///< notifies replicas without a micro-batch that a round ended
  sit_out,           ///< takes part in a round without a micro-batch of its own
  share_statistics,  ///< copies statistics of replica 0, which is in all rounds
  send,              ///< sends a tensor to another chunk; does not wait
  receive,           ///< waits for the tensor of another chunk
  reduce,            ///< sums the gradients of a region, finished before the update
  total,             ///< sums the loss and its counts over all ranks
  update,            ///< waits for all sums, clips gradients, updates parameters
};

constexpr std::string_view name_of(op what) {
  constexpr std::string_view names[] = {
      "forward",          "total_counts", "backward", "compute", "end_round", "sit_out",
      "share_statistics", "send",         "receive",  "reduce",  "total",     "update"};
  return names[static_cast<unsigned>(what)];
}

/// An operation of a rank in a step. Members that do not apply to the operation are -1.
struct step_op {
  op what = op::update;
  std::int32_t micro = -1;  ///< index of the micro-batch, or of the round of micro-batches
  std::int16_t chunk = -1;  ///< index of the model chunk that computes, sends or receives
  std::int16_t other = -1;  ///< send and receive: index of the chunk at the other end
  /// Index of the group of regions that `reduce` sums together (shard::regions::sums).
  std::int16_t region = -1;

  friend constexpr bool operator==(step_op const&, step_op const&) = default;
};

}  // namespace redco::schedule
