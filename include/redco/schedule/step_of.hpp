#pragma once

#include <redco/meta/enum_texts.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

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

constexpr std::string_view name_of(op operation) { return op_texts.text_of(operation); }

/// An operation that a rank executes in an optimizer step. Members without meaning for the
/// operation are -1.
struct step_op {
  op operation = op::update;
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

/// A set of numbers and flags from which step_of() computes the operations of a rank in an
/// optimizer step. All members except `micro_batches` are equal on all ranks.
struct step_facts {
  std::int64_t micro_batches = 1;  ///< Number of micro-batches that this rank's replica computes
  std::int64_t rounds = 1;         ///< Largest number of micro-batches of any replica in the step
  std::int64_t full_rounds = 1;    ///< Smallest number of micro-batches of any replica in the step
  std::int64_t regions = 1;        ///< Number of gradient sums (`reduce` operations) of the step
  /// True if layers communicate between replicas within a micro-batch, as batch norm does.
  bool meets_replicas = false;
  /// True if the loss has several terms. Each term is divided by its count over all replicas before
  /// backward.
  bool several_terms = false;
  /// True if forward and backward of a micro-batch cannot be separated, because the user wrote the
  /// step or the step is a recorded CUDA graph.
  bool in_one = false;

  friend constexpr bool operator==(step_facts const&, step_facts const&) = default;
};

/// Returns the operations of a rank in an optimizer step, in order. The backward of each
/// micro-batch follows its forward directly, so that saved tensors of only one micro-batch are in
/// memory.
constexpr std::vector<step_op> step_of(step_facts const& of) {
  std::vector<step_op> all;
  auto const add = [&all](op operation, std::int64_t micro) {
    all.push_back({operation, static_cast<std::int32_t>(micro), 0, -1, -1});
  };
  for (std::int64_t i = 0; i < of.micro_batches; ++i) {
    if (of.in_one) {
      add(op::compute, i);
    } else {
      add(op::forward, i);
      if (of.several_terms) add(op::total_counts, i);
      add(op::backward, i);
    }
    if (of.meets_replicas && i >= of.full_rounds) add(op::end_round, i);
  }
  if (of.meets_replicas) {
    for (std::int64_t i = of.micro_batches; i < of.rounds; ++i) add(op::sit_out, i);
    if (of.full_rounds < of.rounds) all.push_back({op::share_statistics});
  } else if (of.micro_batches == 0 && of.several_terms) {
    add(op::total_counts, 0);
  }
  for (std::int64_t r = 0; r < of.regions; ++r) all.push_back({op::reduce, -1, -1, -1, static_cast<std::int16_t>(r)});
  all.push_back({op::total});
  all.push_back({op::update});
  return all;
}

}  // namespace redco::schedule
