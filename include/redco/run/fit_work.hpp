#pragma once

#include <redco/run/computed_batches.hpp>
#include <redco/run/step.hpp>
#include <redco/run/step_graphs.hpp>
#include <redco/run/training_step.hpp>
#include <redco/run/user_call.hpp>
#include <redco/nn/pass.hpp>
#include <redco/data/batches.hpp>
#include <redco/schedule/step_of.hpp>

#include <cstdint>
#include <iterator>

namespace redco::run {

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
  }

  schedule::step_facts facts(data::batch_step const& at, bool several_terms) const {
    return {.micro_batches = at.micro_batches,
            .rounds = at.rounds,
            .full_rounds = at.full_rounds,
            .several_terms = several_terms,
            .in_one = source_.own_step() || graphs_ != nullptr};
  }

  terms loss(comm::replica_round const& round) override {
    next(round);
    return user_call("loss", step_, [&] { return source_.loss(now_); });
  }

  void compute(step_executor& step, comm::replica_round const& round) override {
    next(round);
    training_step of_user(step);
    if (source_.own_step()) user_call("train_step", step_, [&] { source_.take_step(of_user, now_); });
    else user_call("loss and backward", step_, [&] { graphs_->compute(step, source_, now_); });
  }

 private:
  void next(comm::replica_round const& round) {
    data::micro_batch const* const part = user_call("collate", step_, [&] { return source_.next(); });
    now_ = in_.with_examples(part->first_example, std::ssize(part->examples)).with_round(round);
  }

  computed_batches& source_;
  /// `in_`: the pass (settings of a forward call) of the step. `now_`: the pass of the current
  /// micro-batch; kept until the next micro-batch, because backward may need it.
  pass in_, now_;
  std::int64_t step_;
  step_graphs* graphs_;
};

}  // namespace redco::run
