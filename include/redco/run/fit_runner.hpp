#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/fit_job.hpp>
#include <redco/run/fit_result.hpp>
#include <redco/run/network_state.hpp>
#include <redco/run/run_state.hpp>
#include <redco/run/verify_result.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/cost/messages.hpp>
#include <redco/cost/setup.hpp>
#include <redco/pretrained/save_model_options.hpp>
#include <redco/shard/plan.hpp>
#include <redco/workdir/shared_weights.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/options/fit_settings.hpp>
#include <redco/safetensors/weights_source.hpp>
#include <redco/adapt/plan/lora_options.hpp>
#include <redco/adapt/save_adapter.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::run {

/// What a trainer does, whatever its model and pipeline: it keeps every rank's network from fit to fit, runs the loops, and tells
/// how they ended.
class fit_runner {
 public:
  /// How each rank's network is made, and what it computes in a fit.
  using make_network = std::function<std::unique_ptr<network_state>(rank_context const& rank, dynamic_plan const& plan,
                                                                    std::vector<std::string> const& frozen)>;
  using make_job = std::function<std::unique_ptr<fit_job>(network_state& state)>;

  /// `settings` is what the model and the optimizer were told. Errors: exit code 64 for a workdir that cannot be used.
  fit_runner(deployer& where, dynamic_plan plan, std::map<std::string, std::string> settings, make_network make);

  /// Errors: those of the run; exit code 75 where a signal ended it, with work left.
  fit_result fit(options::fit_settings const& settings, make_job const& job);

  /// Compares the first `steps` updates of a fit on the mesh with those of one rank. Trains nothing
  /// that stays. `planned` tells the messages of a step. Errors: those of the fit.
  verify_result verify(options::fit_settings const& settings, make_job const& job,
                       std::function<cost::messages(setup const&)> const& planned, std::int64_t steps);

  /// Checkpoints hold this object too; one object for all ranks of a process.
  void keep(std::string const& name, run_state::kept_object object) { kept_.emplace_back(name, std::move(object)); }

  /// The first fit starts from these weights, which the model names so; adapters, which only a checkpoint of theirs has, stay as
  /// they are.
  void start_from(safetensors::weights_source weights, stored_table const& table);
  /// And its adapters from these, which PEFT has written.
  void start_adapters_from(safetensors::weights_source weights, std::span<stored_name const> names);

  /// Saves the networks' weights under these names, adapters merged into them. Errors: exit code 70
  /// before the first fit.
  void save_model(std::filesystem::path const& directory, std::span<stored_name const> names,
                  save_model_options const& options) const;
  /// Saves the adapters alone.
  void save_adapter(std::filesystem::path const& directory, std::span<stored_name const> names,
                    lora_options const& adapters, save_adapter_options const& options) const;

  deployer& where() const { return where_; }
  dynamic_plan const& plan() const { return plan_; }
  /// Somebody has shown the plan: a fit need not.
  void plan_is_told() { plan_told_ = true; }
  /// Every rank's network; empty before the first fit.
  std::vector<std::unique_ptr<network_state>> const& states() const { return states_; }

 private:
  network_state const& trained_state(rank_context const& rank, char const* wanted) const;
  void check(options::fit_settings const& settings);
  void log_start(std::string const& config);
  void load_start(network_state& state, rank_context& rank, workdir::shared_weights const* warm_start) const;
  void train(options::fit_settings const& settings, make_job const& make, fit_report& report);

  deployer& where_;
  dynamic_plan plan_;
  std::map<std::string, std::string> settings_;
  make_network make_network_;
  bool plan_told_ = false;
  std::vector<std::unique_ptr<network_state>> states_;
  std::function<void(network_state&, rank_context&)> start_, start_adapters_;
  std::vector<std::string> frozen_;
  std::vector<std::pair<std::string, run_state::kept_object>> kept_;
  std::int64_t step_ = 0;  ///< updates that the states have seen
};

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/fit_runner.inl.hpp>
#endif
