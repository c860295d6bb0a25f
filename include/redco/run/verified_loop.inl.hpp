#pragma once

#include <redco/run/verified_loop.hpp>

#include <redco/run/deployer.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <iostream>
#include <utility>

namespace redco::run {

REDCO_INLINE void end_verification(deployer& where, verify_result const& result) {
  if (where.speaks()) std::cout << result.text() << std::flush;
  error const end(result.ok() ? exit_code::done : exit_code::missed, result.verdict());
  throw where.speaks() ? end : end.silenced();
}

REDCO_INLINE verify_result verified_loop::result() const {
  if (alone_.empty() || steps_ == 0)
    throw error(exit_code::usage, "verify: the worker's loop ended before its first step: give it steps to compare");
  verify_result all = verify_result_of(compared_, where_.mesh(), where_.compute());
  all.messages_remark = "not compared with the plan: the program takes its steps itself";
  return all;
}

REDCO_INLINE loop_verifier::loop_verifier(verified_loop& all, rank_context& rank) : all_(all), rank_(rank) {
  if (rank.first_of_process) all.has_worker_ = true;
}

REDCO_INLINE void loop_verifier::add(std::string const& name, network_state const& network) {
  networks_.push_back(std::make_unique<followed>());
  networks_.back()->name = name;
  networks_.back()->network = &network;
  networks_.back()->changes.begin(network);
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
  if (!all_.compares_) ++all_.steps_;
}

REDCO_INLINE bool loop_verifier::done(std::int64_t steps) const {
  if (all_.compares_) return steps >= all_.steps_;
  return changing_steps_ >= all_.wanted_;
}

REDCO_INLINE void loop_verifier::take(std::string const& name, update_record record) {
  if (!all_.compares_) {
    all_.alone_.push_back({name, std::move(record)});
    return;
  }
  if (events_ >= all_.alone_.size() || all_.alone_[events_].name != name)
    throw error(exit_code::internal,
                "verify: " + name + " has no counterpart on one rank: take the same steps and updates on every mesh");
  update_record const& alone = all_.alone_[events_++].record;
  compared_update one = compare_updates(rank_, name, record, alone, all_.where_.compute());
  if (rank_.first_of_process) all_.compared_.push_back(std::move(one));
}

}  // namespace redco::run
