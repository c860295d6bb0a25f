#pragma once

#include <redco/run/activation_record.hpp>
#include <redco/run/compare_updates.hpp>
#include <redco/run/deployer.hpp>
#include <redco/run/fit_job.hpp>
#include <redco/run/network_state.hpp>
#include <redco/run/step_measure.hpp>
#include <redco/run/update_record.hpp>
#include <redco/run/verify_result.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/cost/messages.hpp>
#include <redco/cost/setup.hpp>
#include <redco/options/fit_settings.hpp>
#include <redco/options/run_length.hpp>
#include <redco/data/batches.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace redco::run {

/// A comparison of a fit's first steps on one rank and on the mesh. For each step, every process
/// computes the step on one rank, then all ranks of the mesh compute theirs. Nothing is saved.
class verified_fit {
 public:
  /// Functions that make the parts of a fit. Networks start with the run's initial values.
  struct parts {
    std::function<std::unique_ptr<network_state>(rank_context& rank)> network;
    std::function<std::unique_ptr<fit_job>(network_state& state)> job;
    /// Returns the messages that the plan predicts for a step; empty if unknown.
    std::function<cost::messages(setup const& run)> planned;
  };

  verified_fit(deployer& where, options::fit_settings const& settings, parts with)
      : where_(where), settings_(settings), with_(std::move(with)) {}

  /// Compares at most `steps` updates. All processes call it. Throws the errors of a fit.
  verify_result run(std::int64_t steps);

 private:
  /// One rank's network with its position in the data and its number of steps.
  struct place {
    std::unique_ptr<network_state> network;
    data_position position;
    std::int64_t step = 0;
  };

  /// The results of one step on one rank.
  struct computed_step {
    update_record update;
    std::unique_ptr<activation_record> activations;
    step_measure sent;
    /// Reason why the step's messages cannot be compared with a plan; empty if they can.
    std::string not_planned;
  };

  computed_step step_of(rank_context& rank, place& at, bool keeps_activations = false);
  void compare_messages(rank_context const& rank, computed_step const& own, verify_result& result) const;
  std::string first_layer(std::int64_t steps, bool forward, double tolerance);

  deployer& where_;
  options::fit_settings const& settings_;
  parts with_;
};

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/verified_fit.inl.hpp>
#endif
