#pragma once

#include <redco/run/verified_fit.hpp>

#include <redco/run/fit_job.hpp>
#include <redco/run/fit_work.hpp>
#include <redco/run/planned.hpp>
#include <redco/run/run_state.hpp>
#include <redco/run/stage_choices.hpp>
#include <redco/run/step.hpp>
#include <redco/run/step_work.hpp>
#include <redco/nn/routing_record.hpp>
#include <redco/comm/machines.hpp>
#include <redco/cost/stage_costs.hpp>
#include <redco/data/sampler.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/traffic.hpp>
#include <redco/diag/run_position.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

namespace redco::run {

REDCO_INLINE verify_result verified_fit::run(std::int64_t steps) {
  rank_progress alone;
  std::vector<rank_progress> ranks(static_cast<std::size_t>(where_.mesh().ranks()));
  std::vector<compared_update> compared;
  verify_result of_messages;
  std::int64_t replayed = 0;
  // First step that differs, counted from 1; 0 if none does.
  std::int64_t differing = 0;
  auto const ended = [&] {
    return alone.position.epoch >= *settings_.epochs ||
           (*settings_.max_steps > 0 && alone.step >= *settings_.max_steps);
  };
  while (alone.step < steps && !ended()) {
    std::optional<computed_step> reference;
    nn::routing_record routing(where_.compute());
    where_.run_alone([&](rank_context& rank) { reference = step_of(rank, alone, routing); });
    routing.replay();
    where_.run_ranks([&](rank_context& rank) {
      computed_step const own = step_of(rank, ranks[static_cast<std::size_t>(rank.rank)], routing);
      compared_update one =
          compare_updates(rank, "step " + std::to_string(alone.step), own.update, reference->update, where_.compute());
      if (!rank.first_of_process) return;
      if (alone.step == 1) compare_messages(rank, own, of_messages);
      compared.push_back(std::move(one));
    });
    replayed += routing.replaced();
    if (differing == 0 && !verify_result_of(compared, where_.mesh(), where_.compute(), false).ok())
      differing = alone.step;
  }
  verify_result result = verify_result_of(compared, where_.mesh(), where_.compute());
  result.messages = std::move(of_messages.messages);
  result.messages_remark = std::move(of_messages.messages_remark);
  result.replayed = replayed;
  if (differing > 0) {
    verify_step const& one = compared[static_cast<std::size_t>(differing - 1)].step;
    result.forward_differs = one.loss > 1 || one.count > 1;
    if (where_.mesh().pp == 1) result.layer = first_layer(differing, result.forward_differs, result.tolerance.gradient);
  }
  return result;
}

/// Computes all steps up to step `steps` again, records the activations of that step, and returns
/// the path of the first layer whose activations differ. Called if step `steps` differs.
REDCO_INLINE std::string verified_fit::first_layer(std::int64_t steps, bool forward, double tolerance) {
  rank_progress alone;
  std::vector<rank_progress> ranks(static_cast<std::size_t>(where_.mesh().ranks()));
  std::string layer;
  for (std::int64_t step = 1; step <= steps; ++step) {
    std::optional<computed_step> reference;
    nn::routing_record routing(where_.compute());
    where_.run_alone([&](rank_context& rank) { reference = step_of(rank, alone, routing, step == steps); });
    routing.replay();
    where_.run_ranks([&](rank_context& rank) {
      computed_step const own = step_of(rank, ranks[static_cast<std::size_t>(rank.rank)], routing, step == steps);
      if (step < steps) return;
      std::string const found = differing_layer(rank, *own.activations, *reference->activations, forward, tolerance);
      if (rank.first_of_process) layer = found;
    });
  }
  return layer;
}

/// Computes the next step of a rank as a fit does, and returns the step's records. `routing`:
/// records or replays the experts of tokens. `keeps_activations`: true to copy all activations.
REDCO_INLINE verified_fit::computed_step verified_fit::step_of(rank_context& rank, rank_progress& at,
                                                               nn::routing_record& routing, bool keeps_activations) {
  diag::run_position::begin_step(at.step);
  if (!at.network) {
    at.network = with_.network(rank);
    at.network->store.publish();
  }
  auto const job = with_.job(*at.network);
  std::int64_t const examples =
      user_call("train_of_epoch", at.step, [&] { return job->begin_epoch(at.position.epoch); });
  std::uint64_t const seed = where_.options().seed;
  int const replicas = rank.mesh.size(shape::batch_axes);
  // On another mesh, rounds of micro-batches hold other examples. Batch norm would see other
  // statistics, so each step has one round.
  std::int64_t const micro_batch = at.network->network().meets_replicas() ? 0 : *settings_.micro_batch;
  data::sampler const order(examples, seed);
  data::batches const all(order, {*settings_.global_batch, micro_batch, replicas, rank.coordinate(shape::batch_axes)},
                          at.position);
  auto const source = job->training({order, all, at.position.epoch, {seed, at.step}});
  update_recorder recorder;
  computed_step done{{}, std::make_unique<activation_record>(keeps_activations), {}, {}};
  pass in = pass_of_step(where_, rank, seed, at.step);
  in.layers = done.activations.get();
  in.routing = &routing;
  if (keeps_activations) {
    in.recompute = {};
    in.shard_lane = nullptr;
  }
  data::batch_step const next = all.step(0);
  check_micro_batches(next, *settings_.global_batch, where_.schedule(), rank.mesh);
  fit_work work(*source, in, at.step);
  step_executor one(*at.network, rank, work.facts(next, job->several_terms(), where_.schedule()),
                    replicas > 1 ? where_.gradient_bucket() : 0, &recorder);
  step_measure::begin(rank, at.network->store.device());
  step_result const result = one.run(work, {at.step, options::run_length_of(settings_, examples).steps});
  done.sent = step_measure::end(rank, at.network->store.device());
  if (source->own_step()) done.not_planned = "the program takes its steps itself";
  else if (at.network->network().exchanges_rows())
    done.not_planned = "the rows that experts exchange follow from the routing";
  else if (job->several_terms()) done.not_planned = "the loss has several terms";
  else if (std::ssize(done.activations->calls()) != next.micro_batches * at.network->network().blocks().chunks() ||
           next.full_rounds != next.rounds)
    done.not_planned = "the network is not called once for each example";
  at.position = next.next;
  ++at.step;
  done.update = recorder.take(result);
  return done;
}

/// Compares the messages that this rank sent in a step with the messages that the plan predicts.
/// Writes both into `result`.
REDCO_INLINE void verified_fit::compare_messages(rank_context const& rank, computed_step const& own,
                                                 verify_result& result) const {
  result.messages_remark = !with_.planned              ? "the model has an encoder"
                           : !settings_.frozen.empty() ? "the fit freezes parameters that the plan trains"
                                                       : own.not_planned;
  if (!result.messages_remark.empty()) {
    result.messages_remark = "not compared with the plan: " + result.messages_remark;
    return;
  }
  std::map<std::string, shape::traffic::entry> planned;
  // Each chunk of a pipeline stage calls the network once for each micro-batch.
  std::vector<std::vector<std::int64_t>> sizes;
  for (auto const& call : own.activations->calls()) sizes.push_back(call.sizes);
  std::sort(sizes.begin(), sizes.end());
  for (std::size_t i = 0; i < sizes.size(); i += static_cast<std::size_t>(where_.options().chunks_per_stage)) {
    cost::setup run{.mesh = rank.mesh, .load = {sizes[i][0], sizes[i].size() > 1 ? sizes[i][1] : 1}};
    run.compute = where_.compute();
    run.recompute = where_.options().recompute;
    set_shares(run, where_);
    run.machines = comm::machines_of(rank.mesh).hosts;
    auto const add = [&](cost::messages const& all, bool of_step) {
      for (cost::message_total const& one : all) {
        bool const is_of_step =
            one.purpose == cost::messages::name_of_gradients || one.purpose == cost::messages::name_of_parameters ||
            one.purpose == cost::messages::name_of_matrices || one.purpose == cost::messages::name_of_factors ||
            one.purpose == cost::messages::name_of_loads || one.purpose == cost::name_of_tied_gradients ||
            one.purpose == all[cost::messages::loss_total].purpose ||
            one.purpose == all[cost::messages::norm_of_gradients].purpose;
        if (is_of_step == of_step) planned[shape::group_name(rank.mesh, one.over)] += one;
      }
    };
    add(with_.planned(run, rank.coordinate(shape::axis::pp)), false);
    if (i > 0) continue;
    // The number of sums and gathers does not depend on the sizes of the micro-batches.
    run.micro_batches = std::ssize(sizes) / where_.options().chunks_per_stage;
    add(with_.planned(run, rank.coordinate(shape::axis::pp)), true);
  }
  std::map<std::string, shape::traffic> sent;
  for (shape::axes some; some.bits < own.sent.sent.size(); ++some.bits)
    sent[shape::group_name(rank.mesh, some)] = own.sent.over(some);
  for (auto const& [name, counted] : sent) {
    shape::traffic::entry const sum = counted.total(), &plan = planned[name];
    if (sum.calls + plan.calls > 0)
      result.messages.push_back({name, plan.calls, sum.calls, plan.payload_bytes, sum.payload_bytes});
  }
  for (verify_messages const& one : result.messages)
    if (!one.equal())
      result.messages_remark = "over " + one.over + " not as planned: the loss or a layer sends what no fact states";
}

}  // namespace redco::run
