#pragma once

#include <redco/run/gathered_values.hpp>
#include <redco/run/gradient_buckets.hpp>
#include <redco/run/gradient_shares.hpp>
#include <redco/run/loss_totals.hpp>
#include <redco/run/network_state.hpp>
#include <redco/run/step_work.hpp>
#include <redco/run/trained_stage.hpp>
#include <redco/nn/pass.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/comm/replica_round.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shard/regions.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/schedule/step_of.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace redco::run {

/// An optimizer step of a network on one rank. Executes the operations that schedule::step_of
/// lists, in order; all ranks do so at the same time.
///
/// Backward of each micro-batch starts at the sum of its loss and adds to the flat gradient buffer.
/// The optimizer divides the gradient by the count of tokens or examples over all ranks. If the
/// loss has several terms, each term is divided by its own global count before backward.
class step_executor {
 public:
  /// Prepares a step. `facts`: numbers of micro-batches, and the form of the loss; the constructor
  /// fills in the members that follow from the network. `bucket`: bytes of gradients, a multiple of
  /// 8, that one all-reduce sums during the last backward; 0 to sum all gradients after backward.
  /// `watch`: observer; null for none. Throws `error` with exit code 64 for
  /// - a step of the program's own (`facts.in_one`) with pipeline stages,
  /// - a step of the program's own with ranks along ep from level 2 of ZeRO on,
  /// - a loss of several terms with pipeline stages, and in several micro-batches.
  step_executor(network_state& state, rank_context& rank, schedule::step_facts const& facts, std::int64_t bucket = 0,
                step_watch* watch = nullptr);

  /// Executes all operations of the step. If no token or example counted on any rank, nothing is
  /// updated. Throws the errors of `work`. Throws `error` with exit code 79 if the loss or the
  /// gradient norm is not finite. Throws it with 64 for an invalid learning rate, and with 70 if
  /// the loss depends on no trained parameter. After an error, nothing is updated.
  step_result run(step_work& work, step_position const& at);

  /// Adds the loss of a micro-batch to the step, and runs its backward. Only for a step with
  /// `in_one`.
  void add(terms const& loss) {
    count(loss);
    differentiate(loss);
  }
  /// Adds the loss of a micro-batch to the totals of the step, without backward. add() calls
  /// count() and then differentiate().
  void count(terms const& loss);
  /// Runs backward of a micro-batch's loss. add() calls count() and then differentiate().
  void differentiate(terms const& loss);

  /// Declares that the next loss is the rank's last; its gradients are sent during its backward.
  void expect_last() { last_ = !facts_.exchanges_rows; }

  /// Executes the operations after the last backward: sums over the ranks, and the update.
  step_result finish(step_position const& at);

 private:
  void execute(schedule::step_op const& one);
  void forward(schedule::step_op const& one);
  comm::replica_round round_of(schedule::step_op const& one);
  void total_counts();
  void backward(schedule::step_op const& one);
  void share_statistics() const;
  pass pass_without_examples() const;
  void join_forward(schedule::step_op const& one);
  void join_backward(schedule::step_op const& one);
  void reduce(schedule::step_op const& one);
  void exchange_shared();
  void sum_copied_shares();
  shape::block_range blocks_of(schedule::step_op const& one) const;
  void total();
  void update();

  network_state& state_;
  rank_context& rank_;
  schedule::step_facts facts_;
  step_watch* watch_;
  /// Pipeline stage of this rank; empty if the rank runs the whole network
  std::optional<trained_stage> stage_;
  shard::regions sums_;  ///< ranges of the flat gradient, each summed over its own mesh axes
  std::optional<gradient_buckets> buckets_;
  /// Sums of each backward's gradients; empty unless the rank keeps only a share of the gradients
  std::optional<gradient_shares> shares_;
  /// Gathers the values of each block, for the operations of the step; empty unless the rank keeps
  /// only a share of the values
  std::optional<gathered_values> values_;
  std::optional<gathered_calls> calls_;  ///< replaces `values_` in a step with `in_one`
  step_work* work_ = nullptr;
  step_position at_;
  comm::replica_round round_;  ///< micro-batches that all replicas compute now
  terms loss_;                 ///< loss of the current micro-batch; empty after its backward
  /// Losses of the micro-batches in flight, with pipeline stages
  std::map<std::int32_t, terms> losses_;
  /// Sums of outputs without rows, by chunk and micro-batch, from join_forward to join_backward
  std::map<std::pair<std::int16_t, std::int32_t>, at::Tensor> joined_;
  std::vector<double> counts_;  ///< count of each term of the current loss, over all replicas
  bool last_ = false;
  std::int64_t backwards_ = 0;  ///< number of backwards of the step that have begun
  loss_totals totals_;
  step_result result_;
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/step.inl.hpp>
#endif
