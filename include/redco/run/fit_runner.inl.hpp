#pragma once

#include <redco/run/fit_runner.hpp>

#include <redco/run/evaluation_values.hpp>
#include <redco/run/fit_loop.hpp>
#include <redco/run/load_weights.hpp>
#include <redco/run/process_choices.hpp>
#include <redco/run/run_state.hpp>
#include <redco/run/stage_choices.hpp>
#include <redco/run/verified_fit.hpp>
#include <redco/run/whole_masters.hpp>
#include <redco/ckpt/load_weights.hpp>
#include <redco/ckpt/save_model.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/tensor/device.hpp>
#include <redco/report/report_text.hpp>
#include <redco/report/run_request.hpp>
#include <redco/workdir/fit_record.hpp>
#include <redco/workdir/settings_of.hpp>
#include <redco/options/fit_settings.hpp>
#include <redco/options/launch.hpp>
#include <redco/options/resolved.hpp>
#include <redco/options/value_text.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <utility>

namespace redco::run::detail {

/// Loads the master parameters of a network from the weights of a warm start.
inline void load_masters(network_state const& state, workdir::shared_weights const& from, rank_context& rank,
                         workdir::disk_limits const& limits) {
  whole_masters const whole(state, rank);
  ckpt::load_parameters(from.open(), state.master_parts(), rank, {}, limits);
}

}  // namespace redco::run::detail

namespace redco::run {

REDCO_INLINE fit_runner::fit_runner(deployer& where, shard::dynamic_plan plan,
                                    std::map<std::string, std::string> settings, make_network make)
    : where_(where),
      plan_(std::move(plan)),
      settings_(std::move(settings)),
      make_network_(std::move(make)),
      states_(static_cast<std::size_t>(where.mesh().ranks())) {
  where.claim_workdir();
}

REDCO_INLINE fit_result fit_runner::fit(options::fit_settings const& settings, make_job const& job) {
  auto const began = std::chrono::steady_clock::now();
  fit_report report(where_.mesh().ranks());
  workdir::run_summary& s = where_.summary().emplace();
  s.epochs = *settings.epochs;
  auto const conclude_as = [&](exit_code code, std::string const& reason) {
    s.code = code;
    s.reason = reason;
    s.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    step_ = report.step;
    if (!where_.speaks()) return;
    if (std::string const starts = where_.failures().end_start(code, reason); !starts.empty())
      s.lines.push_back(starts);
    workdir::summarise(s, report, where_.workdir(), where_.failures());
    where_.page().measured_bytes.clear();
    for (step_measure const& of_rank : report.measures)
      if (of_rank.peak_bytes > 0) where_.page().measured_bytes.push_back(of_rank.peak_bytes);
    where_.write_last_page();
    if (code != exit_code::done) where_.log().quiet_line("error: " + reason);
  };
  try {
    train(settings, job, report);
  } catch (error const& e) {
    conclude_as(e.code(), e.what());
    throw;
  } catch (std::exception const& e) {
    conclude_as(exit_code::internal, tensors::words_of(e));
    throw;
  }
  if (report.signal != 0) {
    where_.stop_answered();
    conclude_as(exit_code::preempted, std::string(diag::signal_name(report.signal)));
    error const stopped = stopped_by(report.signal, report.step);
    throw where_.speaks() ? stopped : stopped.silenced();
  }
  conclude_as(exit_code::done, "");
  return {report.step, report.losses,     report.per_second, report.evaluation,
          report.best, report.checkpoint, report.files,      report.measures};
}

REDCO_INLINE void fit_runner::train(options::fit_settings const& settings, make_job const& make, fit_report& report) {
  log_start(settings.config);
  check(settings);
  report.settings = settings_;
  workdir::add_settings(report.settings, settings);
  report.settings.merge(options::dtype_facts(where_.dtype_choice()));
  workdir::shared_weights const warm_start(settings.warm_start);
  workdir::shared_weights const* const warm = settings.warm_start.empty() ? nullptr : &warm_start;
  keep_stages_picture(settings);
  fit_report const blank = report;
  where_.run_ranks([&](rank_context& rank) {
    fit_report of_rank = blank;
    fit_report& own = rank.first_of_process ? report : of_rank;
    auto& state = states_[static_cast<std::size_t>(rank.rank)];
    bool const fresh = state == nullptr;
    if (fresh) state = make_network_(rank, plan_, settings.frozen);
    std::function<void()> const load = [&] {
      if (fresh) load_start(*state, rank, warm);
      else if (warm != nullptr) detail::load_masters(*state, *warm, rank, where_.disk_limits());
    };
    auto const job = make(*state);
    fit_loop loop(where_, rank, *state, *job, settings, load, own);
    for (auto const& [name, object] : kept_) loop.keep(name, object);
    loop.run();
  });
}

/// Draws the schedule of a step on pipeline stages for the run's page.
REDCO_INLINE void fit_runner::keep_stages_picture(options::fit_settings const& settings) {
  if (plan_.mesh.pp == 1) return;
  cost::setup const run = report::setup_of(plan_.mesh, {*settings.global_batch, 1}, *settings.micro_batch,
                                           where_.compute(), where_.options().recompute);
  where_.keep_picture("pipeline", stages_picture(plan_.stages, where_.schedule(), run.micro_batches));
}

/// Loads the starting weights into a network that was just made: those of start_from(), or the file
/// `warm_start` of the fit's settings. `warm_start` is null if the settings name no file.
REDCO_INLINE void fit_runner::load_start(network_state& state, rank_context& rank,
                                         workdir::shared_weights const* warm_start) const {
  if (start_) start_(state, rank);
  if (start_adapters_) start_adapters_(state, rank);
  if (!start_ && warm_start != nullptr) detail::load_masters(state, *warm_start, rank, where_.disk_limits());
}

REDCO_INLINE verify_result fit_runner::verify(options::fit_settings const& settings, make_job const& job,
                                              planned_messages const& planned, std::int64_t steps) {
  options::check_fit(settings, where_.mesh().size(shape::batch_axes));
  workdir::shared_weights const warm_start(settings.warm_start);
  workdir::shared_weights const* const warm = settings.warm_start.empty() ? nullptr : &warm_start;
  auto const network = [&](rank_context& rank) {
    shard::dynamic_plan plan{rank.mesh, plan_.entries, {}};
    if (rank.mesh.pp > 1) plan.stages = plan_.stages;
    for (shard::entry& one : plan.entries) one.mesh = rank.mesh;
    auto state = make_network_(rank, plan, settings.frozen);
    load_start(*state, rank, warm);
    return state;
  };
  return verified_fit(where_, settings, {network, job, planned}).run(steps);
}

REDCO_INLINE void fit_runner::start_from(safetensors::weights_source weights, models::stored_table const& table) {
  start_ = [this, weights = std::move(weights), table](network_state& state, rank_context& rank) {
    load_weights(state, weights, table, rank, where_.disk_limits());
  };
}

REDCO_INLINE void fit_runner::start_adapters_from(safetensors::weights_source weights,
                                                  std::vector<models::stored_name> names) {
  start_adapters_ = [this, weights = std::move(weights), names = std::move(names)](network_state& state,
                                                                                   rank_context& rank) {
    load_adapters(state, weights, names, rank, where_.disk_limits());
  };
}

REDCO_INLINE network_state& fit_runner::trained_state(rank_context const& rank, char const* wanted) const {
  auto const& state = states_[static_cast<std::size_t>(rank.rank)];
  if (!state) throw error(exit_code::internal, std::string("nothing is trained yet: call fit before ") + wanted);
  state->check_finite(step_);
  return *state;
}

REDCO_INLINE void fit_runner::save_model(std::filesystem::path const& directory,
                                         std::span<models::stored_name const> names,
                                         save_model_options const& options) const {
  where_.run_ranks([&](rank_context& rank) {
    network_state& state = trained_state(rank, "save_model");
    evaluation_values const values(state, rank);
    whole_masters const whole(state, rank);
    auto const parts = state.merged_parts();
    ckpt::save_model(directory, names, parts, rank.world, options);
  });
}

REDCO_INLINE void fit_runner::save_adapter(std::filesystem::path const& directory,
                                           std::span<models::stored_name const> names, lora_options const& adapters,
                                           adapt::save_adapter_options const& options) const {
  where_.run_ranks([&](rank_context& rank) {
    network_state& state = trained_state(rank, "save_adapter");
    evaluation_values const values(state, rank);
    whole_masters const whole(state, rank);
    adapt::save_adapter(directory, names, adapters, state.adapter_parts(), rank.world, options);
  });
}

/// Checks the settings of a fit before any work. Throws `error` with exit code 64 for invalid
/// settings, and 65 if there are no examples.
REDCO_INLINE void fit_runner::check(options::fit_settings const& settings) {
  options::check_fit(settings, where_.mesh().size(shape::batch_axes));
  bool const fresh = std::all_of(states_.begin(), states_.end(), [](auto const& state) { return state == nullptr; });
  if (!fresh && settings.frozen != frozen_)
    throw error(exit_code::usage, "another fit of this trainer froze other parameters: make a new trainer");
  frozen_ = settings.frozen;
}

/// Logs the start of a run: its options, the plan (split of every parameter), and failures of
/// earlier runs. Prints the plan once per program; log.txt receives it for every run.
REDCO_INLINE void fit_runner::log_start(std::string const& config) {
  log::run_log& log = where_.log();
  log.quiet_line("options " + options::to_json(where_.options()) + (config.empty() ? "" : "\nconfig " + config));
  std::string const plan = "plan: mesh " + options::to_text(plan_.mesh) + ", " +
                           std::string(name_of(where_.compute())) + "\n" + report::plan_text(plan_);
  if (options::launch const& how = options::launched(); how.processes > 1) {
    int const each = plan_.mesh.ranks() / how.processes;
    bool const by_process = each > 1 && !where_.options().deterministic;
    log.quiet_line("ranks: " + std::to_string(each) + " in each of " + options::to_text(how) +
                   "; large sums are made " +
                   (by_process ? "in each process, then over the processes" : "in rank order"));
    if (std::string const anyone = options::joining_without_secret(how); !anyone.empty()) log.warning(anyone);
  }
  if (where_.device() != tensors::cpu_device() && plan_.mesh.ranks() > 1 && !where_.options().deterministic)
    log.quiet_line("sums on devices: in NCCL's order and rounding, among threads that share a device in rank order");
  where_.page().plan = plan;
  if (std::exchange(plan_printed_, true)) log.quiet_line(plan);
  else log.line(plan);
  if (!where_.speaks()) return;
  for (std::string const& again : {where_.failures().repeated(), where_.failures().begin_start()})
    if (!again.empty()) log.warning(again);
}

}  // namespace redco::run
