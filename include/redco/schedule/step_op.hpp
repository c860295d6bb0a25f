#pragma once

#include <redco/meta/enum_texts.hpp>

#include <cstdint>
#include <string_view>

namespace redco::schedule {

/// A kind of operation of a rank in an optimizer step.
enum class op : std::uint8_t {
  forward,       ///< Operation: computes the loss of a micro-batch
  total_counts,  ///< Operation: sums the count of each loss term over all replicas
  backward,      ///< Operation: adds the gradients of a micro-batch to the step's gradients
  compute,       ///< Operation: forward and backward of a micro-batch together
  /// Operation: notifies replicas without a micro-batch that all others have finished a round (one
  /// micro-batch per replica).
  end_round,
  /// Operation: takes part in the collectives of a round (one micro-batch per replica) although
  /// this replica has no micro-batch left.
  sit_out,
  /// Operation: copies batch-norm statistics from replica 0, which has a micro-batch in every
  /// round, to all replicas.
  share_statistics,
  send,     ///< Operation: starts to send a tensor to the rank of another model chunk
  receive,  ///< Operation: waits for a tensor from the rank of another model chunk
  /// Operation: starts to sum the gradients of a group of parameters over ranks; the sum is
  /// complete before the update.
  reduce,
  total,   ///< Operation: sums the loss and its counts over all ranks
  update,  ///< Operation: waits for all sums, clips gradients and updates parameters
};

inline constexpr auto op_texts = meta::enum_texts<op>({
    {op::forward, "forward"},
    {op::total_counts, "total_counts"},
    {op::backward, "backward"},
    {op::compute, "compute"},
    {op::end_round, "end_round"},
    {op::sit_out, "sit_out"},
    {op::share_statistics, "share_statistics"},
    {op::send, "send"},
    {op::receive, "receive"},
    {op::reduce, "reduce"},
    {op::total, "total"},
    {op::update, "update"},
});

constexpr std::string_view name_of(op what) { return op_texts.text_of(what); }

/// An operation that a rank executes in an optimizer step. Members without meaning for the
/// operation are -1.
struct step_op {
  op what = op::update;
  /// Index of the micro-batch in its replica, or, for end_round and sit_out, of the round (one
  /// micro-batch per replica).
  std::int32_t micro = -1;
  /// Index of the model chunk (consecutive blocks) that computes, sends or receives.
  std::int16_t chunk = -1;
  std::int16_t other = -1;  ///< For send and receive: index of the model chunk at the other end
  /// For `reduce`: index into `shard::regions::sums`, the groups of parameters whose gradients are
  /// summed together.
  std::int16_t region = -1;

  friend constexpr bool operator==(step_op const&, step_op const&) = default;
};

}  // namespace redco::schedule
