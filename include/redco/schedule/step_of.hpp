#pragma once

#include <redco/meta/enum_texts.hpp>
#include <redco/schedule/pipeline_table.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace redco::schedule {

/// A kind of operation of a rank in an optimizer step.
enum class op : std::uint8_t {
  forward,  ///< Operation: computes the loss of a micro-batch
  /// Operation: begins to gather, block by block, the values that forward of a micro-batch reads. A
  /// replica that does not compute the micro-batch takes part in these gathers. They end before the
  /// next gather or reduce operation.
  gather_forward,
  gather_backward,  ///< Operation: like gather_forward, for backward of a micro-batch
  /// Operation: sums the count of each loss term over all replicas, unless a loss that the program
  /// adds has done so already
  total_counts,
  backward,  ///< Operation: adds the gradients of a micro-batch to the step's gradients
  compute,   ///< Operation: forward and backward of a micro-batch together
  /// Operation: notifies replicas without a micro-batch that all others have finished a round (one
  /// micro-batch per replica).
  end_round,
  /// Operation: takes part in the collectives of a round (one micro-batch per replica) although
  /// this replica has no micro-batch left.
  sit_out,
  /// Operation: copies batch-norm statistics from replica 0, which has a micro-batch in every
  /// round, to all replicas.
  share_statistics,
  /// Operation: takes part, with 0 rows, in the calls of a network with experts that other ranks
  /// along the mesh axis ep still make.
  join_calls,
  /// Operation: takes part, with 0 rows, in forward of a micro-batch that other ranks along ep
  /// compute and this replica does not have.
  join_forward,
  join_backward,  ///< Operation: like join_forward, for backward of a micro-batch
  send,           ///< Operation: starts to send a tensor to the rank of another model chunk
  receive,        ///< Operation: waits for a tensor from the rank of another model chunk
  /// Operation: starts to sum the gradients of a group of parameters over ranks; the sum is
  /// complete before the update. With `micro`, the gradients are those of one round (one
  /// micro-batch per replica), and the operation waits for their sum.
  reduce,
  /// Operation: adds the gradients of parameters that several pipeline stages hold, such as tied
  /// embeddings, over these stages.
  exchange_shared,
  total,   ///< Operation: sums the loss and its counts over all ranks
  update,  ///< Operation: waits for all sums, clips gradients and updates parameters
};

inline constexpr auto op_texts = meta::enum_texts<op>({
    {op::forward, "forward"},
    {op::gather_forward, "gather_forward"},
    {op::gather_backward, "gather_backward"},
    {op::total_counts, "total_counts"},
    {op::backward, "backward"},
    {op::compute, "compute"},
    {op::end_round, "end_round"},
    {op::sit_out, "sit_out"},
    {op::share_statistics, "share_statistics"},
    {op::join_calls, "join_calls"},
    {op::join_forward, "join_forward"},
    {op::join_backward, "join_backward"},
    {op::send, "send"},
    {op::receive, "receive"},
    {op::reduce, "reduce"},
    {op::exchange_shared, "exchange_shared"},
    {op::total, "total"},
    {op::update, "update"},
});

constexpr std::string_view name_of(op operation) { return op_texts.text_of(operation); }

/// An operation that a rank executes in an optimizer step. Members without meaning for the
/// operation are -1.
struct step_op {
  op operation = op::update;
  /// Index of the micro-batch in its replica, or, for end_round, sit_out and `reduce`, of the round
  /// (one micro-batch per replica).
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
  /// True if layers exchange rows of experts with other replicas. Then a replica without
  /// micro-batches left takes part in the exchanges, too.
  bool exchanges_rows = false;
  /// True if the loss has several terms. Each term is divided by its count over all replicas before
  /// backward.
  bool several_terms = false;
  /// True if forward and backward of a micro-batch cannot be separated, because the user wrote the
  /// step or the step is a recorded CUDA graph.
  bool in_one = false;
  /// True if a replica gets the sums of its share of the gradients only. Then pipeline stages
  /// exchange the gradients that several of them hold before the sums.
  bool exchanges_first = false;
  /// True if the replicas sum the gradients of each round (one micro-batch per replica) at once.
  /// Then a replica without micro-batches left takes part in the sums, too.
  bool sums_rounds = false;
  /// True if a replica keeps only its share of the values. Then replicas gather the values in the
  /// same order, and one without micro-batches left takes part in the gathers.
  bool gathers_values = false;
  int stages = 1;  ///< Number of pipeline stages
  int stage = 0;   ///< Index of this rank's pipeline stage
  /// Order in which the stages compute micro-batches: gpipe, one_f_one_b or interleaved
  pipeline_kind schedule = pipeline_kind::one_f_one_b;
  int chunks_per_stage = 1;  ///< Number of chunks of blocks of each stage
  /// Order that a step with the table's number of micro-batches uses in place of `schedule`; may be
  /// null
  pipeline_table const* table = nullptr;

  /// Returns true if a replica without micro-batches left joins forward and backward of each
  /// micro-batch of the others, because other messages pass between them. Otherwise it joins all
  /// calls at the end of the step.
  constexpr bool joins_rounds() const {
    return exchanges_rows && !in_one && (stages > 1 || sums_rounds || several_terms);
  }

  friend constexpr bool operator==(step_facts const&, step_facts const&) = default;
};

}  // namespace redco::schedule

namespace redco::schedule::detail {

/// Returns the computations of a stage with several chunks for any number of micro-batches: all
/// forwards, chunk by chunk, then all backwards. The last, smaller batch of an epoch uses it if
/// the schedule does not fit its number of micro-batches.
constexpr std::vector<stage_op> chunk_by_chunk(step_facts const& of) {
  std::vector<stage_op> list;
  auto const micros = static_cast<std::int32_t>(of.micro_batches);
  for (int i = 0; i < of.chunks_per_stage; ++i)
    for (std::int32_t m = 0; m < micros; ++m) list.push_back({stage_work::forward, i * of.stages + of.stage, m});
  for (int i = of.chunks_per_stage; i-- > 0;)
    for (std::int32_t m = 0; m < micros; ++m) list.push_back({stage_work::backward, i * of.stages + of.stage, m});
  return list;
}

}  // namespace redco::schedule::detail

namespace redco::schedule {

/// Returns the computations of the pipeline stage `of.stage` in a step, in order. If the schedule
/// does not fit the number of micro-batches, the stage computes all forwards chunk by chunk, then
/// all backwards.
constexpr std::vector<stage_op> computations_of(step_facts const& of) {
  pipeline_shape const shape{of.schedule, of.stages, static_cast<int>(of.micro_batches), of.chunks_per_stage};
  auto const stage = static_cast<std::size_t>(of.stage);
  if (of.table != nullptr && of.table->micro_batches == of.micro_batches) return of.table->of_stage[stage];
  // g++ 12 copies an element of a temporary too late if a conditional expression selects it.
  if (refusal_of(shape).empty()) return table_of(shape).of_stage[stage];
  return detail::chunk_by_chunk(of);
}

/// Returns the computations of all pipeline stages in a step, as computations_of() returns them for
/// one stage. Ignores `of.stage`.
constexpr pipeline_table table_of(step_facts of) {
  pipeline_shape const shape{of.schedule, of.stages, 1, of.chunks_per_stage};
  pipeline_table all{static_cast<int>(of.micro_batches), {}, {}};
  for (int chunk = 0; chunk < shape.chunks(); ++chunk) all.stage_of.push_back(shape.stage_of(chunk));
  for (of.stage = 0; of.stage < of.stages; ++of.stage) all.of_stage.push_back(computations_of(of));
  return all;
}

}  // namespace redco::schedule

namespace redco::schedule::detail {

/// Adds the forwards and backwards of one pipeline stage to `all`, in the order of the schedule,
/// with the receives before them and the sends after them. If replicas gather values or exchange
/// rows of experts, all of them have the order of the one with most micro-batches.
constexpr void add_pipeline(step_facts const& of, std::vector<step_op>& all) {
  step_facts of_all = of;
  if (of.gathers_values || of.joins_rounds()) of_all.micro_batches = of.rounds;
  if (of_all.micro_batches == 0) return;
  for (stage_op const& one : computations_of(of_all)) {
    bool const forward = one.work == stage_work::forward;
    auto const chunk = static_cast<std::int16_t>(one.chunk),
               before = static_cast<std::int16_t>(chunk + (forward ? -1 : 1)),
               after = static_cast<std::int16_t>(chunk + (forward ? 1 : -1));
    if (of.gathers_values)
      all.push_back({forward ? op::gather_forward : op::gather_backward, one.micro, chunk, -1, -1});
    if (one.micro >= of.micro_batches) {
      if (of.joins_rounds()) all.push_back({forward ? op::join_forward : op::join_backward, one.micro, chunk, -1, -1});
      continue;
    }
    auto const exists = [&of](std::int16_t other) { return other >= 0 && other < of.stages * of.chunks_per_stage; };
    if (exists(before)) all.push_back({op::receive, one.micro, chunk, before, -1});
    all.push_back({forward ? op::forward : op::backward, one.micro, chunk, -1, -1});
    if (exists(after)) all.push_back({op::send, one.micro, chunk, after, -1});
  }
}

}  // namespace redco::schedule::detail

namespace redco::schedule {

/// Returns the operations of a rank in an optimizer step, in order. Without pipeline stages, the
/// backward of each micro-batch follows its forward directly, so that saved tensors of only one
/// micro-batch are in memory. Requires gpipe, one_f_one_b or interleaved for several stages.
constexpr std::vector<step_op> step_of(step_facts const& of) {
  std::vector<step_op> all;
  auto const add = [&all](op operation, std::int64_t micro) {
    all.push_back({operation, static_cast<std::int32_t>(micro), 0, -1, -1});
  };
  auto const reduce = [&](std::int64_t round) {
    for (std::int64_t r = 0; r < of.regions; ++r)
      all.push_back({op::reduce, static_cast<std::int32_t>(round), -1, -1, static_cast<std::int16_t>(r)});
  };
  if (of.stages > 1) detail::add_pipeline(of, all);
  for (std::int64_t i = 0; of.stages == 1 && i < of.micro_batches; ++i) {
    if (of.in_one) {
      add(op::compute, i);
    } else {
      if (of.gathers_values) add(op::gather_forward, i);
      add(op::forward, i);
      if (of.several_terms) add(op::total_counts, i);
      if (of.gathers_values) add(op::gather_backward, i);
      add(op::backward, i);
    }
    if (of.sums_rounds) reduce(i);
    if (of.meets_replicas && i >= of.full_rounds) add(op::end_round, i);
  }
  if (of.meets_replicas) {
    for (std::int64_t i = of.micro_batches; i < of.rounds; ++i) add(op::sit_out, i);
    if (of.full_rounds < of.rounds) all.push_back({op::share_statistics});
  }
  bool const by_round = of.stages == 1 && (of.sums_rounds || of.joins_rounds());
  if (of.exchanges_rows && !of.joins_rounds()) all.push_back({op::join_calls});
  bool const has_no_loss = of.in_one || of.micro_batches == 0;
  if (has_no_loss && of.several_terms && !of.meets_replicas && !by_round) add(op::total_counts, 0);
  for (std::int64_t i = of.micro_batches; by_round && i < of.rounds; ++i) {
    if (of.gathers_values) add(op::gather_forward, i);
    if (of.joins_rounds()) add(op::join_forward, i);
    if (of.several_terms && !of.meets_replicas) add(op::total_counts, i);
    if (of.gathers_values) add(op::gather_backward, i);
    if (of.joins_rounds()) add(op::join_backward, i);
    if (of.sums_rounds) reduce(i);
  }
  if (of.stages > 1 && of.exchanges_first) all.push_back({op::exchange_shared});
  if (!of.sums_rounds) reduce(-1);
  if (of.stages > 1 && !of.exchanges_first) all.push_back({op::exchange_shared});
  all.push_back({op::total});
  all.push_back({op::update});
  return all;
}

}  // namespace redco::schedule
