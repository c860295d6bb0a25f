#pragma once

#include <redco/run/compare_updates.hpp>
#include <redco/run/deployer.hpp>
#include <redco/run/fit_job.hpp>
#include <redco/run/fit_result.hpp>
#include <redco/run/network_state.hpp>
#include <redco/run/update_noise.hpp>
#include <redco/run/verify_records.hpp>
#include <redco/run/verify_result.hpp>
#include <redco/nn/routing_record.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/cost/messages.hpp>
#include <redco/cost/setup.hpp>
#include <redco/options/fit_settings.hpp>
#include <redco/data/batches.hpp>
#include <redco/shape/dtype.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redco::run {

/// A comparison (--verify) of a fit's first steps on one rank and on the mesh. Each step is
/// computed in f64: on one rank in every process, and by all ranks of the mesh. One rank also
/// computes it with slightly other values, which measures the noise of rounding. If the run
/// computes in another dtype, the step is computed in that dtype, too; then the differences of one
/// rank between the dtypes are noise. Saves nothing.
class verified_fit {
 public:
  /// Functions that make a rank's network and job for the comparison. Each network starts with the
  /// initial values of the run.
  struct parts {
    std::function<std::unique_ptr<network_state>(rank_context& rank)> network;
    std::function<std::unique_ptr<fit_job>(network_state& state)> job;
    /// Function that returns the messages that the plan predicts for a step; empty if they are
    /// unknown.
    planned_messages planned;
  };

  verified_fit(deployer& where, options::fit_settings const& settings, parts with)
      : where_(where), settings_(settings), with_(std::move(with)) {}

  /// Compares at most `steps` updates and returns the result. All processes call it. Throws the
  /// errors of a fit.
  verify_result run(std::int64_t steps);

 private:
  /// One rank's network, its position in the data, and the number of steps that it has done.
  struct rank_progress {
    std::unique_ptr<network_state> network;
    data::data_position position;
    std::int64_t step = 0;
  };

  /// The records of one step on one rank: update, activations and messages.
  struct computed_step {
    update_record update;
    std::unique_ptr<activation_record> activations;
    step_measure sent;
    /// Reason why the step's messages cannot be compared with the plan; empty if they can be
    /// compared.
    std::string not_planned;
    bool several_terms = false;  ///< true if the loss has several terms
  };

  /// The runs that compute in one dtype.
  struct runs {
    dtype computed = dtype::f64;
    std::string label = {};  ///< addition to the names of steps, such as " in f64"
    rank_progress alone;
    rank_progress shaken;  ///< one rank with slightly other values
    std::vector<rank_progress> ranks;
    noise_meter noise;
  };

  /// Settings of a step that only the verification has.
  struct step_choices {
    nn::routing_record& routing;
    bool keeps_activations = false;
    /// Dtype whose roundings the parameters are changed by before the step; empty to keep them
    std::optional<at::ScalarType> shakes = {};
  };

  bool ended(rank_progress const& at) const;
  update_record compare_step(runs& all, update_record const* exact);
  computed_step step_of(rank_context& rank, rank_progress& at, step_choices const& how);
  void compare_messages(rank_context const& rank, computed_step const& own, verify_result& result) const;
  std::string first_layer(std::int64_t steps, bool forward, double tolerance);

  deployer& where_;
  options::fit_settings const& settings_;
  parts with_;
  std::vector<compared_update> compared_;
  verify_result of_messages_;
  std::int64_t replayed_ = 0;
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/verified_fit.inl.hpp>
#endif
