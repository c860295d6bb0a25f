#pragma once

#include <redco/run/fit_step.hpp>

#include <redco/run/for_each_round.hpp>
#include <redco/run/user_call.hpp>
#include <redco/config.hpp>

#include <iterator>

namespace redco::run {

REDCO_INLINE step_result fit_step::run(computed_batches& source, batch_step const& at, bool stop) const {
  training_step update(network, rank, several_terms, gradient_bucket);
  update.watch(watch);
  std::int64_t to_come = at.micro_batches;
  if (several_terms && at.rounds > 1) update.refuse_micro_batches();
  for_each_round(at, rank.group(batch_axes), network.network(), [&](comm::replica_round const& round) {
    micro_batch const* const part = user_call("collate", step, [&] { return source.next(); });
    update.meet(round);
    if (--to_come == 0 && !source.own_step()) update.expect_last();
    compute(update, source, *part, round);
  });
  if (at.micro_batches == 0 && !network.network().meets_replicas()) update.add_nothing();
  return update.finish(step, run_steps, stop);
}

REDCO_INLINE void fit_step::compute(training_step& update, computed_batches& source, micro_batch const& part,
                                    comm::replica_round const& round) const {
  pass own = in;
  own.first_example = part.first_example;
  own.examples = std::ssize(part.examples);
  own.round = round;
  if (source.own_step()) {
    if (graphs != nullptr) step_graphs::refuse("the program takes its steps itself");
    user_call("train_step", step, [&] { source.take_step(update, own); });
    return;
  }
  if (graphs != nullptr) return user_call("loss and backward", step, [&] { graphs->compute(update, source, own); });
  terms const loss = user_call("loss", step, [&] { return source.loss(own); });
  user_call("backward", step, [&] { update.add(loss); });
}

}  // namespace redco::run
