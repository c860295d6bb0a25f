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
#include <redco/workdir/open_weights.hpp>
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

/// The part of a trainer that does not depend on the types of its model and pipeline. Keeps every
/// rank's network between fits, runs the training loops, and reports how each fit ended.
class fit_runner {
 public:
  /// A function that makes the network of one rank.
  using make_network = std::function<std::unique_ptr<network_state>(
      rank_context const& rank, shard::dynamic_plan const& plan, std::vector<std::string> const& frozen)>;
  /// A function that makes the interface to a fit on one rank: its batches and the user's
  /// functions.
  using make_job = std::function<std::unique_ptr<fit_job>(network_state& state)>;

  /// Creates a runner for the fits of one model. `settings`: names and values that describe the
  /// model and the optimizer. Throws `error` with exit code 64 if the workdir cannot be used.
  fit_runner(deployer& where, shard::dynamic_plan plan, std::map<std::string, std::string> settings, make_network make);

  /// Trains on all ranks and returns the result. Throws the errors of the training loop, and
  /// `error` with exit code 75 if a signal ended the run before its last step.
  fit_result fit(options::fit_settings const& settings, make_job const& job);

  /// Compares the first `steps` updates of a fit on the mesh with the same updates on one rank. The
  /// trained networks do not change. `planned` returns the messages that the plan predicts for a
  /// step on a pipeline stage. Throws the errors of a fit.
  verify_result verify(options::fit_settings const& settings, make_job const& job, planned_messages const& planned,
                       std::int64_t steps);

  /// Adds a user's object to the checkpoints of fits. All ranks of a process share the object.
  void keep(std::string const& name, run_state::kept_object object) { kept_.emplace_back(name, std::move(object)); }

  /// Makes the first fit start from these weights. `table` maps the model's parameter names to
  /// names in the files. Parameters of LoRA adapters keep their values, unless the weights are a
  /// checkpoint that has adapters.
  void start_from(safetensors::weights_source weights, models::stored_table const& table);
  /// Makes the first fit start its LoRA adapters from files in PEFT's format. `names`: names of the
  /// frozen model's weights in its own files.
  void start_adapters_from(safetensors::weights_source weights, std::vector<models::stored_name> names);

  /// Saves the networks' weights to a folder, under the file names of parameters in `names`. LoRA
  /// adapters are merged into the weights. Throws `error` with exit code 70 before the first fit.
  void save_model(std::filesystem::path const& directory, std::span<models::stored_name const> names,
                  save_model_options const& options) const;
  /// Saves only the networks' LoRA adapters, in PEFT's format.
  void save_adapter(std::filesystem::path const& directory, std::span<models::stored_name const> names,
                    lora_options const& adapters, adapt::save_adapter_options const& options) const;

  deployer& where() const { return where_; }
  shard::dynamic_plan const& plan() const { return plan_; }
  /// Records that the user has seen the plan (split of every parameter), so that the first fit
  /// writes it to log.txt only.
  void plan_is_printed() { plan_printed_ = true; }
  /// Returns the network of every rank, by rank; null before the first fit and for ranks of other
  /// processes.
  std::vector<std::unique_ptr<network_state>> const& states() const { return states_; }

 private:
  network_state& trained_state(rank_context const& rank, char const* wanted) const;
  void check(options::fit_settings const& settings);
  void log_start(std::string const& config);
  void keep_stages_picture(options::fit_settings const& settings);
  void load_start(network_state& state, rank_context& rank, workdir::shared_weights const* warm_start) const;
  void train(options::fit_settings const& settings, make_job const& make, fit_report& report);

  deployer& where_;
  shard::dynamic_plan plan_;
  std::map<std::string, std::string> settings_;
  make_network make_network_;
  bool plan_printed_ = false;
  std::vector<std::unique_ptr<network_state>> states_;
  std::function<void(network_state&, rank_context&)> start_, start_adapters_;
  std::vector<std::string> frozen_;
  std::vector<std::pair<std::string, run_state::kept_object>> kept_;
  /// Number of steps of the run after the last fit; 0 before the first fit.
  std::int64_t step_ = 0;
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/fit_runner.inl.hpp>
#endif
