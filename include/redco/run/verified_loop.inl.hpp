#pragma once

#include <redco/run/verified_loop.hpp>

#include <redco/run/computing_in.hpp>
#include <redco/run/deployer.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace redco::run {

REDCO_INLINE void end_verification(deployer& where, verify_result const& result) {
  if (where.speaks()) std::cout << result.text() << std::flush;
  error const end(result.ok() ? exit_code::done : exit_code::missed, result.verdict());
  throw where.speaks() ? end : end.silenced();
}

REDCO_INLINE verified_loop::verified_loop(deployer& where, std::int64_t steps)
    : where_(where), wanted_(steps), computed_(where.compute()) {}

REDCO_INLINE bool verified_loop::run(tensors::function_ref<void(rank_context&)> f) {
  {
    computing_in const type(where_, dtype::f64);
    where_.run_alone(f);
    if (has_worker_) compare(f);
  }
  if (!has_worker_) where_.run_ranks(f);
  bool const ends =
      alone_.empty() || computed_ == dtype::f64 || !verify_result_of(compared_, where_.mesh(), dtype::f64).ok();
  if (ends) return has_worker_;
  exact_ = std::exchange(alone_, {});
  steps_ = 0;
  purpose_ = purpose::record;
  where_.run_alone(f);
  compare(f);
  return true;
}

/// Measures the noise of the recorded updates, then compares the updates of the mesh with them.
REDCO_INLINE void verified_loop::compare(tensors::function_ref<void(rank_context&)> f) {
  purpose_ = purpose::shake;
  where_.run_alone(f);
  noise_meter meter;
  noise_.clear();
  for (std::size_t i = 0; i < alone_.size(); ++i) {
    auto const same = [&](std::vector<event> const& events) {
      return i < events.size() && events[i].name == alone_[i].name ? &events[i].record : nullptr;
    };
    noise_.push_back(meter.measure(alone_[i].record, {same(exact_), same(shaken_)}, where_.compute()));
  }
  exact_.clear();
  shaken_.clear();
  purpose_ = purpose::compare;
  std::size_t const first = compared_.size();
  where_.run_ranks(f);
  find_layer(f, first);
}

/// Runs the loop again up to the first update that differs, and finds the layer that differs in it.
/// `first`: index of the run's first comparison. Does nothing if no update differs.
REDCO_INLINE void verified_loop::find_layer(tensors::function_ref<void(rank_context&)> f, std::size_t first) {
  for (std::size_t i = first; i < compared_.size(); ++i) {
    if (verify_result_of({compared_[i]}, where_.mesh(), where_.compute(), false).ok()) continue;
    verify_step const& step = compared_[i].step;
    if (!step.has_loss) return;
    observed_ = i - first;
    forward_differs_ = step.loss > 1 || step.count > 1;
    activation_ = compared_[i].tolerance.activation;
    purpose_ = purpose::observe;
    where_.run_alone(f);
    where_.run_ranks(f);
    return;
  }
}

REDCO_INLINE verify_result verified_loop::result() const {
  if (alone_.empty() || steps_ == 0)
    throw error(exit_code::usage, "verify: the worker's loop ended before its first step: give it steps to compare");
  verify_result all = verify_result_of(compared_, where_.mesh(), where_.compute());
  all.messages_remark = "not compared with the plan: the program takes its steps itself";
  all.layer = layer_;
  all.forward_differs = forward_differs_;
  return all;
}

REDCO_INLINE loop_verifier::loop_verifier(verified_loop& all, rank_context& rank) : all_(all), rank_(rank) {
  if (rank.first_of_process) all.has_worker_ = true;
  if (all.purpose_ == verified_loop::purpose::observe) layers_ = std::make_unique<activation_record>(true);
}

REDCO_INLINE void loop_verifier::add(std::string const& name, network_state const& network) {
  networks_.push_back(std::make_unique<followed>());
  networks_.back()->name = name;
  networks_.back()->network = &network;
  networks_.back()->changes.begin(network);
}

REDCO_INLINE void loop_verifier::begin() {
  for (auto const& one : networks_) {
    if (all_.purpose_ == verified_loop::purpose::shake) {
      at::ScalarType narrowest = at::kDouble;
      for (verified_loop::event const& recorded : all_.alone_)
        if (at::ScalarType const type = narrowest_of(all_.where_.compute(), recorded.record);
            c10::elementSize(type) < c10::elementSize(narrowest))
          narrowest = type;
      shake(*one->network, narrowest);
    }
    one->changes.begin(*one->network);
  }
}

REDCO_INLINE void loop_verifier::end_update(std::string const& network, std::int64_t step, step_result const& result) {
  update_record record = of_update_.take(result);
  record.network = network;
  take("step " + std::to_string(step + 1) + ", update " + std::to_string(++updates_of_step_) + " (" + network + ")",
       std::move(record));
}

REDCO_INLINE void loop_verifier::end_step(std::int64_t step) {
  for (auto const& one : networks_) {
    one->changes.updated(*one->network);
    update_record record = one->changes.take({});
    record.network = one->name;
    for (updated_parameter& p : record.parameters) {
      changed_ = changed_ || (p.update.numel() > 0 && p.update.abs().max().item<double>() > 0);
      p.slots.clear();
    }
    take("step " + std::to_string(step + 1) + " (" + one->name + ")", std::move(record));
  }
  begin();
  changing_steps_ += std::exchange(changed_, false) ? 1 : 0;
  updates_of_step_ = 0;
  if (all_.purpose_ == verified_loop::purpose::record) ++all_.steps_;
}

REDCO_INLINE bool loop_verifier::done(std::int64_t steps) const {
  if (all_.purpose_ == verified_loop::purpose::observe && events_ > all_.observed_) return true;
  if (all_.purpose_ != verified_loop::purpose::record) return steps >= all_.steps_;
  return changing_steps_ >= all_.wanted_;
}

REDCO_INLINE void loop_verifier::take(std::string const& name, update_record record) {
  using purpose = verified_loop::purpose;
  if (all_.purpose_ == purpose::observe) return observe();
  if (all_.purpose_ != purpose::compare) {
    auto& events = all_.purpose_ == purpose::record ? all_.alone_ : all_.shaken_;
    events.push_back({name, std::move(record)});
    return;
  }
  if (events_ >= all_.alone_.size() || all_.alone_[events_].name != name)
    throw error(exit_code::internal,
                "verify: " + name + " has no counterpart on one rank: take the same steps and updates on every mesh");
  dtype const computed = all_.where_.compute();
  std::size_t const at = events_++;
  compared_update one = compare_updates(rank_, name + (computed == all_.computed_ ? "" : " in f64"), record,
                                        all_.alone_[at].record, all_.noise_[at], computed);
  if (rank_.first_of_process) all_.compared_.push_back(std::move(one));
}

/// Ends an update in a run that records activations. The ranks of the mesh find the first layer
/// that differs in the observed update.
REDCO_INLINE void loop_verifier::observe() {
  std::size_t const event = events_++;
  if (event < all_.observed_) return layers_->clear();
  if (event > all_.observed_) return;
  layers_->stop();
  if (!all_.layers_) {
    all_.layers_ = std::move(layers_);
    return;
  }
  bool const in_order = layers_->calls().size() == all_.layers_->calls().size();
  std::string const found =
      differing_layer(rank_, *layers_, *all_.layers_, all_.forward_differs_, all_.activation_, in_order);
  if (rank_.first_of_process) all_.layer_ = found;
}

}  // namespace redco::run
