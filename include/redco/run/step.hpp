#pragma once

#include <redco/run/gradient_buckets.hpp>
#include <redco/run/loss_totals.hpp>
#include <redco/run/network_state.hpp>
#include <redco/run/step_watch.hpp>
#include <redco/run/step_work.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/comm/replica_round.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/shard/regions.hpp>
#include <redco/schedule/step_of.hpp>
#include <redco/schedule/step_op.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace redco::run {

/// One optimizer step of a network on one rank: executes the operations of schedule::step_of, in
/// their order. All ranks execute theirs at the same time.
///
/// Backward of each micro-batch starts at the sum of its loss, and the flat gradient of the store
/// collects all of them. The global count divides it inside the optimizer's pass. A loss of several
/// terms divides each term by its own global count before backward.
class step_executor {
 public:
  /// `facts` needs no regions and no meets_replicas, which the network knows. `bucket`: bytes of
  /// gradients that are summed over the ranks at once while the last backward runs, a multiple of
  /// 8; 0: all after it. Errors: exit code 64 for several terms in several micro-batches.
  step_executor(network_state& state, rank_context& rank, schedule::step_facts const& facts, std::int64_t bucket = 0,
                step_watch* watch = nullptr);

  /// Executes all operations. Where nothing counted on any rank, no parameter and no moment of the
  /// optimizer changes. Errors: exit code 79 if the loss or the gradient norm is not finite, 64 if
  /// the learning rate is none, and nothing is updated then; 70 for a loss without trained
  /// parameters; those of `work`.
  step_result run(step_work& work, step_place const& at);

  /// What a micro-batch that is computed in one adds: its loss and its gradients.
  void add(terms const& loss) {
    count(loss);
    differentiate(loss);
  }
  /// The two halves of add.
  void count(terms const& loss);
  void differentiate(terms const& loss);

  /// The loss that is added next is the last of this rank: its gradients are sent while its
  /// backward runs.
  void expect_last() { last_ = true; }

  /// Executes what follows the last backward.
  step_result finish(step_place const& at);

 private:
  void execute(schedule::step_op const& one);
  comm::replica_round round_of(schedule::step_op const& one);
  void total_counts();
  void backward();
  void share_statistics() const;
  void reduce(shard::region const& sum);
  void total();
  void update();

  network_state& state_;
  rank_context& rank_;
  schedule::step_facts facts_;
  step_watch* watch_;
  shard::regions sums_;  ///< of the gradients
  std::optional<gradient_buckets> buckets_;
  step_work* work_ = nullptr;
  step_place at_;
  comm::replica_round round_;   ///< of the micro-batch that is computed
  terms loss_;                  ///< of that micro-batch, until its backward
  std::vector<double> counts_;  ///< of its terms over the replicas
  bool last_ = false;
  loss_totals totals_;
  step_result result_;
};

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/step.inl.hpp>
#endif
