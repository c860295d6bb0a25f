#pragma once

#include <cstdint>
#include <string_view>

namespace redco::schedule {

/// What a rank can do in an optimizer step.
enum class op : std::uint8_t {
  forward,           ///< the loss of a micro-batch
  total_counts,      ///< sums the counts of a loss of several terms over the replicas
  backward,          ///< adds the gradients of a micro-batch
  compute,           ///< forward and backward of a micro-batch in one
  end_round,         ///< tells the replicas without a micro-batch in this round that it is over
  sit_out,           ///< takes part in a round without a micro-batch of its own
  share_statistics,  ///< takes over the statistics of the replica that was in all rounds
  send,              ///< hands a tensor to another chunk; does not wait
  receive,           ///< waits for the tensor of another chunk
  reduce,            ///< sums the gradients of a region, at the latest before the update
  total,             ///< sums the loss and its counts over all ranks
  update,            ///< waits for all sums, clips the gradients and changes the parameters
};

constexpr std::string_view name_of(op what) {
  constexpr std::string_view names[] = {
      "forward",          "total_counts", "backward", "compute", "end_round", "sit_out",
      "share_statistics", "send",         "receive",  "reduce",  "total",     "update"};
  return names[static_cast<unsigned>(what)];
}

/// One operation of a rank in a step. Numbers that an operation does not have are -1.
struct step_op {
  op what = op::update;
  std::int32_t micro = -1;   ///< which micro-batch, or round of micro-batches
  std::int16_t chunk = -1;   ///< which part of the model's blocks computes, sends or receives
  std::int16_t other = -1;   ///< of send and receive: the chunk at the other end
  std::int16_t region = -1;  ///< of reduce: which of the regions with one sum (shard::regions::sums)

  friend constexpr bool operator==(step_op const&, step_op const&) = default;
};

}  // namespace redco::schedule
