#pragma once

#include <redco/run/fit_job.hpp>
#include <redco/run/stage_choices.hpp>
#include <redco/run/step.hpp>
#include <redco/run/step_work.hpp>
#include <redco/run/training_step.hpp>
#include <redco/nn/pass.hpp>
#include <redco/tensor/device_graph.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/data/batches.hpp>
#include <redco/schedule/step_of.hpp>

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace redco::run {

/// Device graphs (--cuda-graph) that replay forward and backward of micro-batches. The first
/// batches of each shape run normally, while libraries choose algorithms and compile kernels. The
/// next batch is recorded. Later batches are copied into the recorded batch's tensors, and the
/// graph is replayed. CPU code of the loss function runs only while recording, except for calls of
/// look_on_cpu, check_on_cpu and count_on_cpu, which are repeated for each batch.
class step_graphs {
 public:
  /// Throws `error` with exit code 64. `why`: the reason why a run cannot be recorded as a device
  /// graph.
  [[noreturn]] static void refuse(std::string const& why);

  /// Throws `error` with exit code 64 if a run cannot be recorded as a device graph. The reason is
  /// tensor parallelism, batch norm, a loss of several terms, or gradients that each backward sums.
  static void check(network_state const& network, rank_context const& rank, bool several_terms);

  explicit step_graphs(at::Device device) : device_(device) {}

  /// Computes a micro-batch and adds its loss and gradients to the step, as
  /// `step.add(batch.loss(in))` does, but by replaying a graph where possible. Throws `error` with
  /// exit code 64 if the micro-batch cannot be recorded, and the errors of the loss function.
  void compute(step_executor& step, computed_batches& batch, pass const& in);

 private:
  struct recorded_batch {
    int computed = 0;
    std::vector<at::Tensor> tensors;  ///< tensors from which the graph reads the batch
    tensors::graph_recording on_cpu;  ///< reads of the batch, repeated before each replay
    terms loss;
    at::Tensor sums;  ///< sums of the loss terms, which the graph computes
    std::unique_ptr<tensors::device_graph> graph;
  };

  void record(recorded_batch& at);
  void move_in(recorded_batch& at, std::vector<at::Tensor*> const& batch);

  at::Device device_;
  std::map<std::string, recorded_batch> of_shape_;

  /// Arguments of the compute() call in progress, for record(): the step, the micro-batch and the
  /// pass (settings of a forward call).
  step_executor* step_ = nullptr;
  computed_batches* batch_ = nullptr;
  pass in_;
};

/// The micro-batches of one step of a fit on one rank: collated one by one and given to the user's
/// functions. Objects that the constructor takes by reference must outlive it. Errors of the user's
/// functions are rethrown with the step and the function's name.
class fit_work final : public step_work {
 public:
  /// `in`: the pass (settings of a forward call) of the step, copied for each micro-batch.
  /// `graphs`: records forward and backward as a device graph and replays it; null to run without
  /// recording. Throws `error` with exit code 64 if `graphs` is given and the user has a
  /// `train_step`, which cannot be recorded.
  fit_work(computed_batches& source, pass const& in, std::int64_t step, step_graphs* graphs = nullptr)
      : source_(source), in_(in), step_(step), graphs_(graphs) {
    if (graphs != nullptr && source.own_step()) step_graphs::refuse("the program takes its steps itself");
    source.forget();
  }

  /// Returns the numbers from which the operations of the step follow. `order`: order in which
  /// pipeline stages compute micro-batches.
  schedule::step_facts facts(data::batch_step const& at, bool several_terms, stage_schedule const& order) const {
    return {.micro_batches = at.micro_batches,
            .rounds = at.rounds,
            .full_rounds = at.full_rounds,
            .several_terms = several_terms,
            .in_one = source_.own_step() || graphs_ != nullptr,
            .schedule = order.kind,
            .table = order.table.get()};
  }

  terms loss(std::int32_t micro, comm::replica_round const& round, nn::stage_link* stage) override {
    if (micro < std::ssize(passes_)) {
      source_.select(static_cast<std::size_t>(micro));
      now_ = passes_[static_cast<std::size_t>(micro)];
    } else {
      next(round);
      now_.stage = stage;
      if (stage != nullptr && stage->has_several_chunks()) {
        source_.keep();
        passes_.push_back(now_);
      }
    }
    return user_call("loss", step_, [&] { return source_.loss(now_); });
  }

  pass pass_without_examples() const override { return in_; }
  std::int64_t tokens() const override { return tokens_; }

  void compute(step_executor& step, comm::replica_round const& round) override {
    next(round);
    training_step of_user(step);
    if (source_.own_step()) user_call("train_step", step_, [&] { source_.take_step(of_user, now_); });
    else user_call("loss and backward", step_, [&] { graphs_->compute(step, source_, now_); });
  }

 private:
  void next(comm::replica_round const& round) {
    data::micro_batch const* const part = user_call("collate", step_, [&] { return source_.next(); });
    tokens_ += source_.tokens();
    now_ = in_.with_examples(part->first_example, std::ssize(part->examples)).with_round(round);
  }

  computed_batches& source_;
  /// `in_`: the pass (settings of a forward call) of the step. `now_`: the pass of the current
  /// micro-batch; kept until the next micro-batch, because backward may need it.
  pass in_, now_;
  /// Passes of the micro-batches that later chunks of a pipeline stage need again
  std::vector<pass> passes_;
  std::int64_t step_, tokens_ = 0;
  step_graphs* graphs_;
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/fit_work.inl.hpp>
#endif
