#pragma once

#include <redco/cost/memory.hpp>
#include <redco/schedule/pipeline_table.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::cost {

/// A computation of a pipeline stage in a step: the tensors that pass the stage's cuts for it, and
/// the bytes that a rank holds when it holds most. Bytes that the rank holds during the whole step,
/// such as parameters, are not included.
struct stage_moment {
  schedule::stage_op computation;
  int from = -1;  ///< Stage that sends the computation's input; -1: none
  int to = -1;    ///< Stage that receives the computation's result; -1: none
  /// Bytes of the input from `from`, and of the result to `to`
  std::int64_t received = 0, sent = 0;
  std::int64_t activations = 0, recomputed = 0, gradients = 0;
  std::int64_t loss = 0;       ///< Bytes of the loss's saved and temporary tensors
  std::int64_t transfers = 0;  ///< Bytes of sent tensors whose arrival no message has shown
  std::int64_t gathered = 0;   ///< Bytes of values gathered from the other replicas (ZeRO 3)
  /// Bytes at the arrival of the input, before the stage frees tensors that it has sent
  std::int64_t at_arrival = 0;

  constexpr std::int64_t bytes() const { return activations + recomputed + gradients + loss + transfers + gathered; }
};

}  // namespace redco::cost

namespace redco::cost::detail {

/// Bytes that a rank of a pipeline stage needs for one micro-batch in one chunk of its blocks.
struct chunk_bytes {
  std::int64_t activations = 0;  ///< Bytes that forward saves for backward
  std::int64_t loss = 0;         ///< Bytes that the loss saves for backward
  std::int64_t loss_workspace = 0;
  std::int64_t gathered = 0;  ///< Bytes of values gathered at the end of forward (ZeRO 3)
  std::int64_t received = 0;  ///< Bytes of the tensors that the preceding chunk sends
  std::int64_t sent = 0;      ///< Bytes of the tensors that the next chunk receives
  /// Bytes of the largest part of these tensors that a gather copies; 0 if they pass whole
  std::int64_t received_part = 0, sent_part = 0;
  /// Part of `sent` that exists only until the tensors have arrived; the rest is in `activations`
  std::int64_t output = 0;
  backward_moment backward;  ///< Moment of backward at which one micro-batch needs the most bytes
};

/// A run of one pipeline stage through its computations in a step, which finds the most bytes that
/// the stage holds in forward and in backward. A sent tensor is held until a message of its
/// receiver, sent after the tensor had arrived, has arrived here (see schedule/receipts.hpp).
class stage_memory {
 public:
  /// Runs the stage `stage` of `table`. `chunks` has the bytes of each chunk of the model. Appends
  /// the moments of the computations to `moments`, unless it is null.
  constexpr stage_memory(schedule::pipeline_table const& table, std::vector<chunk_bytes> const& chunks, int stage,
                         std::vector<stage_moment>* moments = nullptr)
      : table_(table), chunks_(chunks), stage_(stage), moments_(moments), neighbours_(table.stages()) {
    for (int other = 0; other < static_cast<int>(table.stages()); ++other)
      if (other != stage) list_messages(other);
    for (schedule::stage_op const& one : table.of_stage[static_cast<std::size_t>(stage)]) compute(one);
  }

  int in_flight = 0;  ///< Largest number of forwards that wait for the end of their last gradient
  /// Moment of forward with the most bytes: bytes by kind, as in `memory`
  std::int64_t activations = 0, transfers = 0, loss = 0, loss_workspace = 0;
  backward_moment backward;  ///< Moment of backward with the most bytes

 private:
  using op = schedule::stage_op;
  using work = schedule::stage_work;

  /// A tensor that passes a cut, in the order in which a stage sends or receives it.
  struct message {
    int from = 0, to = 0, micro = 0;

    friend constexpr bool operator==(message const&, message const&) = default;
  };
  struct unconfirmed {
    message sent;
    std::int64_t bytes = 0;
  };
  /// A message of another stage, and the number of messages from this stage that arrived before.
  struct answer {
    message sent;
    std::size_t arrived = 0;
  };
  struct neighbour {
    std::vector<message> received;  ///< Messages of this stage, as they arrive there
    std::vector<answer> answers;    ///< Messages to this stage, as they are sent there
    std::size_t next = 0;           ///< Index in `answers` at which the next search begins
    std::size_t confirmed = 0;      ///< Number of messages in `received` that are known to be there
  };

  /// Returns the stage of a chunk, or -1 if there is no such chunk.
  constexpr int stage_of(int chunk) const {
    return chunk < 0 || chunk >= static_cast<int>(table_.chunks()) ? -1
                                                                   : table_.stage_of[static_cast<std::size_t>(chunk)];
  }

  /// Returns the chunk whose result `one` needs (`step` -1), or that needs the result of `one` (1).
  static constexpr int chunk_beside(op const& one, int step) {
    return one.chunk + (one.work == work::forward ? step : -step);
  }

  /// Lists the messages between this stage and the stage `other`.
  constexpr void list_messages(int other) {
    neighbour& of = neighbours_[static_cast<std::size_t>(other)];
    for (op const& one : table_.of_stage[static_cast<std::size_t>(other)]) {
      if (one.work == work::weight_gradients) continue;
      int const before = chunk_beside(one, -1), after = chunk_beside(one, 1);
      if (stage_of(before) == stage_) of.received.push_back({before, one.chunk, one.micro});
      if (stage_of(after) == stage_) of.answers.push_back({{one.chunk, after, one.micro}, of.received.size()});
    }
  }

  /// Frees the tensors that are known to have arrived when `arrived` arrives here.
  constexpr void receive(int from, message const& arrived) {
    neighbour& of = neighbours_[static_cast<std::size_t>(from)];
    while (!(of.answers[of.next].sent == arrived)) of.next = (of.next + 1) % of.answers.size();
    for (; of.confirmed < of.answers[of.next].arrived; ++of.confirmed) {
      auto const sent = std::find_if(unconfirmed_.begin(), unconfirmed_.end(),
                                     [&](unconfirmed const& one) { return one.sent == of.received[of.confirmed]; });
      transfers_ -= sent->bytes;
      unconfirmed_.erase(sent);
    }
  }

  constexpr void compute(op const& one) {
    chunk_bytes const& c = chunks_[static_cast<std::size_t>(one.chunk)];
    if (moments_ != nullptr) moments_->push_back(moment_of(one));
    if (one.work == work::weight_gradients) return free(c);
    bool const forward = one.work == work::forward;
    int const before = chunk_beside(one, -1), after = chunk_beside(one, 1);
    if (int const from = stage_of(before); from >= 0 && from != stage_) {
      // The received tensor exists before the stage knows which of its own have arrived.
      std::int64_t const arrived = forward ? c.received + c.received_part : c.sent + c.sent_part;
      end_forward(arrived, 0);
      if (moments_ != nullptr) moments_->back().at_arrival = saved_ + losses_ + transfers_ + c.gathered + arrived;
      receive(from, {before, one.chunk, one.micro});
    }
    int const to = stage_of(after);
    bool const sends = to >= 0 && to != stage_;
    if (forward) {
      saved_ += c.activations;
      losses_ += c.loss;
      in_flight = std::max(in_flight, ++held_);
      end_forward(sends ? c.output : 0, c.loss_workspace);
      if (moments_ != nullptr) {
        stage_moment& ended = moments_->back();
        ended.activations = saved_;
        ended.loss = losses_ + c.loss_workspace;
        ended.transfers = transfers_ + (sends ? c.output : 0);
      }
    } else {
      backward_moment now = c.backward;
      now.activations += saved_ - c.activations + losses_ - c.loss;
      now.transfers = transfers_;
      if (now.bytes() > backward.bytes()) backward = now;
      if (moments_ != nullptr) {
        stage_moment& most = moments_->back();
        most.activations = now.activations - (losses_ - c.loss);
        most.loss = losses_ - c.loss;
        most.recomputed = now.recomputed;
        most.gradients = now.gradients;
        most.transfers = now.transfers;
        most.gathered = now.gathered;
      }
      if (one.work == work::backward) free(c);
    }
    if (!sends) return;
    unconfirmed_.push_back({{one.chunk, after, one.micro}, forward ? c.output : c.received});
    transfers_ += unconfirmed_.back().bytes;
  }

  /// Returns the moment of a computation that begins now.
  constexpr stage_moment moment_of(op const& one) const {
    chunk_bytes const& c = chunks_[static_cast<std::size_t>(one.chunk)];
    stage_moment now{
        .computation = one, .activations = saved_, .loss = losses_, .transfers = transfers_, .gathered = c.gathered};
    if (one.work == work::weight_gradients) return now;
    bool const forward = one.work == work::forward;
    int const from = stage_of(chunk_beside(one, -1)), to = stage_of(chunk_beside(one, 1));
    if (from >= 0 && from != stage_) now.from = from, now.received = forward ? c.received : c.sent;
    if (to >= 0 && to != stage_) now.to = to, now.sent = forward ? c.sent : c.received;
    return now;
  }

  constexpr void free(chunk_bytes const& c) {
    saved_ -= c.activations;
    losses_ -= c.loss;
    --held_;
  }

  /// Compares the current moment, with `more` bytes of tensors that pass a cut, with the largest
  /// moment of forward.
  constexpr void end_forward(std::int64_t more, std::int64_t workspace) {
    if (saved_ + transfers_ + more + losses_ + workspace <= activations + transfers + loss + loss_workspace) return;
    activations = saved_;
    transfers = transfers_ + more;
    loss = losses_;
    loss_workspace = workspace;
  }

  schedule::pipeline_table const& table_;
  std::vector<chunk_bytes> const& chunks_;
  int stage_;
  std::vector<stage_moment>* moments_;
  std::vector<neighbour> neighbours_;     ///< Messages to and from each stage
  std::vector<unconfirmed> unconfirmed_;  ///< Sent tensors that may not have arrived
  std::int64_t saved_ = 0, losses_ = 0, transfers_ = 0;
  int held_ = 0;
};

}  // namespace redco::cost::detail
