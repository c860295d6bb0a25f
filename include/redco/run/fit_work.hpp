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

/// The micro-batches of a fit's step on one rank: collated one by one and given to the user's
/// functions. What it refers to outlives it. Errors: those of the user's functions with step and
/// function; exit code 64 for a step of the program's own that shall be recorded.
class fit_work final : public step_work {
 public:
  /// `in` is the pass of the step, from which each micro-batch gets its own. `graphs` record and
  /// repeat forward and backward; null: they run as they are.
  fit_work(computed_batches& source, pass const& in, std::int64_t step, step_graphs* graphs = nullptr)
      : source_(source), in_(in), step_(step), graphs_(graphs) {
    if (graphs != nullptr && source.own_step()) step_graphs::refuse("the program takes its steps itself");
  }

  schedule::step_facts facts(batch_step const& at, bool several_terms) const {
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
    micro_batch const* const part = user_call("collate", step_, [&] { return source_.next(); });
    now_ = in_.with_examples(part->first_example, std::ssize(part->examples)).with_round(round);
  }

  computed_batches& source_;
  pass in_, now_;  ///< of the step, and of its micro-batch until the next one: backward may need it
  std::int64_t step_;
  step_graphs* graphs_;
};

}  // namespace redco::run
