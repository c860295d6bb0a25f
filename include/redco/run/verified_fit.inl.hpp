#pragma once

#include <redco/run/verified_fit.hpp>

#include <redco/run/computing_in.hpp>
#include <redco/run/fit_job.hpp>
#include <redco/run/fit_work.hpp>
#include <redco/run/loss_totals.hpp>
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
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace redco::run::detail {

/// Returns the reason why the plan does not know the messages of a network's step; empty if it
/// does.
inline std::string reason_without_plan(network_state const& state) {
  if (state.network().exchanges_rows()) return "the rows that experts exchange follow from the routing";
  for (nn::stored_parameter const& one : state.store.parameters())
    if (!one.trainable && one.plan.fact.trained) return "the plan counts gradients of parameters that the run freezes";
  return "";
}

}  // namespace redco::run::detail

namespace redco::run {

REDCO_INLINE bool verified_fit::ended(rank_progress const& at) const {
  return at.position.epoch >= *settings_.epochs || (*settings_.max_steps > 0 && at.step >= *settings_.max_steps);
}

REDCO_INLINE verify_result verified_fit::run(std::int64_t steps) {
  std::vector<runs> all(where_.compute() == dtype::f64 ? 1 : 2);
  all.back().computed = where_.compute();
  if (all.size() > 1) all.front().label = " in f64";
  for (runs& one : all) one.ranks.resize(static_cast<std::size_t>(where_.mesh().ranks()));
  // The first update that differs, and its step, counted from 1.
  std::optional<compared_update> differing;
  std::int64_t step = 0;
  std::string layer;
  while (!differing && step < steps && !ended(all.front().alone)) {
    ++step;
    std::optional<update_record> exact;
    for (runs& one : all) {
      computing_in const type(where_, one.computed);
      exact = compare_step(one, exact ? &*exact : nullptr);
      if (differing || verify_result_of({compared_.back()}, where_.mesh(), one.computed, false).ok()) continue;
      differing = compared_.back();
      bool const forward = differing->step.loss > 1 || differing->step.count > 1;
      layer = first_layer(step, forward, differing->tolerance.activation);
    }
  }
  verify_result result = verify_result_of(compared_, where_.mesh(), where_.compute());
  result.messages = std::move(of_messages_.messages);
  result.messages_remark = std::move(of_messages_.messages_remark);
  for (verify_messages const& one : result.messages)
    if (result.first.empty() && !one.equal()) result.first = one.difference();
  result.replayed = replayed_;
  result.layer = std::move(layer);
  result.forward_differs = differing && (differing->step.loss > 1 || differing->step.count > 1);
  return result;
}

/// Computes and compares the next step in one dtype. Returns the step's record on one rank.
/// `exact`: the record of this step in f64; null if the dtype is f64.
REDCO_INLINE update_record verified_fit::compare_step(runs& all, update_record const* exact) {
  std::optional<computed_step> alone, shaken;
  nn::routing_record routing(all.computed);
  where_.run_alone([&](rank_context& rank) { alone = step_of(rank, all.alone, {routing}); });
  routing.replay();
  where_.run_alone([&](rank_context& rank) {
    shaken = step_of(rank, all.shaken, {routing, false, narrowest_of(all.computed, alone->update)});
  });
  update_noise const noise = all.noise.measure(alone->update, {exact, &shaken->update}, all.computed);
  shaken.reset();
  std::int64_t const before = routing.replaced();
  std::string const name = "step " + std::to_string(all.alone.step) + all.label;
  where_.run_ranks([&](rank_context& rank) {
    computed_step const own = step_of(rank, all.ranks[static_cast<std::size_t>(rank.rank)], {routing});
    compared_update one = compare_updates(rank, name, own.update, alone->update, noise, all.computed);
    if (!rank.first_of_process) return;
    if (all.alone.step == 1) compare_messages(rank, own, of_messages_);
    compared_.push_back(std::move(one));
  });
  replayed_ += routing.replaced() - before;
  return std::move(alone->update);
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
    step_choices const how{routing, step == steps};
    where_.run_alone([&](rank_context& rank) { reference = step_of(rank, alone, how); });
    routing.replay();
    where_.run_ranks([&](rank_context& rank) {
      computed_step const own = step_of(rank, ranks[static_cast<std::size_t>(rank.rank)], how);
      if (step < steps) return;
      std::string const found = differing_layer(rank, *own.activations, *reference->activations, forward, tolerance);
      if (rank.first_of_process) layer = found;
    });
  }
  return layer;
}

/// Computes the next step of a rank as a fit does, and returns the step's records.
REDCO_INLINE verified_fit::computed_step verified_fit::step_of(rank_context& rank, rank_progress& at,
                                                               step_choices const& how) {
  diag::run_position::begin_step(at.step);
  if (!at.network) {
    at.network = with_.network(rank);
    at.network->store.publish();
  }
  if (how.shakes) shake(*at.network, *how.shakes);
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
  computed_step done{{}, std::make_unique<activation_record>(how.keeps_activations), {}, {}};
  pass in = pass_of_step(where_, rank, seed, at.step);
  in.layers = done.activations.get();
  in.routing = &how.routing;
  if (how.keeps_activations) {
    in.recompute = {};
    in.shard_lane = nullptr;
  }
  data::batch_step const next = all.step(0);
  check_micro_batches(next, *settings_.global_batch, where_.schedule(), rank.mesh);
  fit_work work(*source, in, at.step);
  step_executor one(*at.network, rank, work.facts(next, job->several_terms(), where_.schedule()),
                    rank.mesh.size(shape::token_axes) > 1 ? where_.gradient_bucket() : 0, &recorder);
  step_measure::begin(rank, at.network->store.device());
  step_result const result = one.run(work, {at.step, options::run_length_of(settings_, examples).steps});
  done.sent = step_measure::end(rank, at.network->store.device());
  done.not_planned = detail::reason_without_plan(*at.network);
  if (source->own_step()) done.not_planned = "the program takes its steps itself";
  else if (std::ssize(done.activations->calls()) != next.micro_batches * at.network->network().blocks().chunks() ||
           next.full_rounds != next.rounds)
    done.not_planned = "the network is not called once for each example";
  done.several_terms = job->several_terms();
  at.position = next.next;
  ++at.step;
  done.update = recorder.take(result);
  return done;
}

/// Compares the messages that this rank sent in a step with the messages that the plan predicts.
/// Writes both into `result`.
REDCO_INLINE void verified_fit::compare_messages(rank_context const& rank, computed_step const& own,
                                                 verify_result& result) const {
  result.messages.clear();
  result.messages_remark = !with_.planned
                               ? "the model has an encoder, and later stages do not record the length of its input"
                               : own.not_planned;
  if (!result.messages_remark.empty()) {
    result.messages_remark = "not compared with the plan: " + result.messages_remark;
    return;
  }
  std::map<std::string, shape::traffic::entry> planned;
  // Each chunk of a pipeline stage calls the network once for each micro-batch.
  // Of each call: examples, tokens of an example, and tokens of the encoder's input.
  std::vector<std::array<std::int64_t, 3>> sizes;
  for (auto const& call : own.activations->calls())
    sizes.push_back({call.sizes[0], call.sizes.size() > 1 ? call.sizes[1] : 1, call.source});
  std::sort(sizes.begin(), sizes.end());
  for (std::size_t i = 0; i < sizes.size(); i += static_cast<std::size_t>(where_.options().chunks_per_stage)) {
    cost::setup run{.mesh = rank.mesh, .load = {sizes[i][0], sizes[i][1], sizes[i][2]}};
    run.compute = where_.compute();
    run.recompute = where_.options().recompute;
    run.zero = where_.zero();
    run.overlap_shards = where_.overlaps_shards();
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
  // A loss of several terms sums its counts over the replicas before backward.
  if (own.several_terms && rank.mesh.size(shape::batch_axes) > 1)
    planned[shape::group_name(rank.mesh, shape::batch_axes)] +=
        {1, static_cast<std::int64_t>(loss_totals::most_terms * sizeof(double)), 0, 0};
  std::map<std::string, shape::traffic> sent;
  for (shape::axes some; some.bits < own.sent.sent.size(); ++some.bits)
    sent[shape::group_name(rank.mesh, some)] = own.sent.over(some);
  for (auto const& [name, counted] : sent) {
    shape::traffic::entry const sum = counted.total(), &plan = planned[name];
    if (sum.calls + plan.calls > 0)
      result.messages.push_back({name, plan.calls, sum.calls, plan.payload_bytes, sum.payload_bytes});
  }
}

}  // namespace redco::run
