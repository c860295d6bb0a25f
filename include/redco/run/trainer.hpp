#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/fit_loop.hpp>
#include <redco/run/fit_report.hpp>
#include <redco/run/rank_state.hpp>
#include <redco/run/step_measure.hpp>
#include <redco/ckpt/load_model.hpp>
#include <redco/ckpt/load_parameters.hpp>
#include <redco/ckpt/save_model.hpp>
#include <redco/update/optimizer.hpp>
#include <redco/report/plan_text.hpp>
#include <redco/report/report_text.hpp>
#include <redco/report/setup_of.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/shard/plan.hpp>
#include <redco/workdir/open_weights.hpp>
#include <redco/workdir/run_summary.hpp>
#include <redco/workdir/settings_of.hpp>
#include <redco/workdir/shared_weights.hpp>
#include <redco/workdir/summarise.hpp>
#include <redco/model/model.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/options/check_fit_options.hpp>
#include <redco/options/chosen_dtype.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/options/mesh_text.hpp>
#include <redco/options/to_json.hpp>
#include <redco/optimizer/check_rates.hpp>
#include <redco/pipeline/batch_of.hpp>
#include <redco/pipeline/loss_of.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco {

/// Fits a model to examples on the deployer's mesh: a pipeline of three functions, an optimizer, and nothing else to
/// write.
///
///   redco::trainer trainer(deployer, model, pipeline, redco::adamw{.lr = 3e-4});
///   return trainer.fit(train, {.epochs = 3, .global_batch = 16, .eval = dev});
///
/// Errors on construction: exit code 64 with the legal widths when the mesh cannot hold the model, and for a workdir that
/// cannot be used or that a live run holds.
template <model M, class Pipeline, update::optimizer Optimizer>
class trainer {
 public:
  using pipeline_type = Pipeline;
  using net = bound_network<M>;
  template <class Example>
  using batch = batch_of<Pipeline, Example>;
  template <class Example>
  using output = typename run::prediction<Pipeline, net, Example>::type;
  template <class Example>
  using step_type = training_step<M, Optimizer, std::is_same_v<loss_of<Pipeline, net, batch<Example>>, terms>>;
  template <class Example>
  using options_for = fit_options<
      Example, output<Example>,
      detail::hook<std::function<void(step_type<Example>&, net const&, batch<Example> const&)>, batch<Example>>>;

  /// False where a function of the pipeline was refused: the compiler has said why, and nothing here adds to it.
  template <class Example>
  static constexpr bool sound =
      !std::is_same_v<batch<Example>, diag::ill_formed> && !std::is_same_v<output<Example>, diag::ill_formed> &&
      !std::is_same_v<loss_of<Pipeline, net, batch<Example>>, diag::ill_formed>;

  trainer(deployer& where, M m, Pipeline pipeline, Optimizer optimizer)
      : where_(where),
        model_(std::move(m)),
        pipeline_(std::move(pipeline)),
        optimizer_(std::move(optimizer)),
        plan_(plan_of(model_, where.mesh())),
        states_(static_cast<std::size_t>(where.mesh().ranks())) {
    where.claim_workdir();
  }

  dynamic_plan const& plan() const { return plan_; }

  /// The plan with its reasons, the bytes of one rank and the messages of a step, before anything runs. `global` is the
  /// global batch and the length of its examples; `micro_batch` as in fit. The first fit prints the plan where nobody asked.
  std::string report(workload const& global, std::int64_t micro_batch = 0) {
    plan_told_ = true;
    setup const run = report::setup_of(plan_.mesh, global, micro_batch, where_.compute(), where_.options().recompute);
    return report_text(report_of(model_, optimizer_, run));
  }

  /// Trains, and returns the program's exit code: 0, or what went wrong, which the end summary says. `train` is any
  /// random-access range; an lvalue must outlive the call. Another fit goes on from the parameters that this one left,
  /// or, with `resume` "auto", from the newest checkpoint.
  template <class Range>
  int fit(Range&& train, options_for<example_of<std::remove_cvref_t<Range>>> const& options = {}) {
    if constexpr (sound<example_of<std::remove_cvref_t<Range>>>) {
      return fit_examples(std::forward<Range>(train), options);
    } else {
      return static_cast<int>(exit_code::internal);
    }
  }

  /// Lets the first fit start from the weights of files: those of a `pretrained` folder, or a path that `open_weights` takes,
  /// such as a checkpoint of a run. Names in files of Hugging Face are known where redco/pretrained/pretrained.hpp, or
  /// redco/pretrained/stored_names/FAMILY.hpp, is included. Errors: exit code 65 when there are no weights, or (of fit) with
  /// the first 20 differences when they are not the model's.
  void start_from(safetensors::weights_source weights) {
    start_ = [weights = std::move(weights)](run::rank_state<M, Optimizer>& state, rank_context& rank) {
      load_model(weights, stored_names<M>::names, stored_names<M>::unread, state.master_parts(), rank);
    };
  }
  void start_from(std::filesystem::path const& files) { start_from(workdir::open_weights(files)); }

  /// Saves a family's weights as Hugging Face transformers do, those of one's own model under its own names; with
  /// `pretrained::save_options` the whole folder. `start_from` and `inference` read them. Errors: exit code 70 before the first
  /// fit, 74 when the files cannot be written.
  void save_model(std::filesystem::path const& directory, save_model_options const& options = {}) const {
    where_.run([&](rank_context& rank) {
      auto const& state = states_[static_cast<std::size_t>(rank.rank)];
      if (!state) throw error(exit_code::internal, "nothing is trained yet: call fit before save_model");
      state->check_finite(summary_.step);
      redco::save_model(directory, stored_names<M>::names, state->master_parts(), rank.world, options);
    });
  }

  /// How the last fit ended; lines of one's own may be added before it is printed.
  workdir::run_summary& summary() { return summary_; }

  /// The metrics of the last evaluation, and what each rank held and sent in the third step.
  metric_map const& evaluation() const { return evaluation_; }
  std::vector<run::step_measure> const& measures() const { return measures_; }

  /// Prints the end summary. Called last, whatever happened.
  void print_summary() {
    summary_.warnings = where_.log().warnings();
    where_.stop_answered();
    where_.log().line(workdir::summary_text(summary_));
  }

  /// The trained state of a rank, for predictors; empty before the first fit.
  std::vector<std::unique_ptr<run::rank_state<M, Optimizer>>> const& states() const { return states_; }
  deployer& where() const { return where_; }
  Pipeline const& pipeline() const { return pipeline_; }

 private:
  template <class Range, class Options>
  int fit_examples(Range&& train, Options const& options) {
    using example = example_of<std::remove_cvref_t<Range>>;
    auto const began = std::chrono::steady_clock::now();
    run::fit_report<output<example>> report(where_.mesh().ranks());
    workdir::run_summary& s = summary_;
    s = {};
    s.epochs = options.epochs;
    try {
      log_start(options.config);
      examples<example> const data(std::forward<Range>(train));
      check(data.size(), options);
      report.settings = workdir::settings_of(model_, optimizer_, options, where_.compute());
      report.settings.merge(dtype_facts(where_.dtype_choice()));
      workdir::shared_weights const warm_start(options.warm_start);
      where_.run([&](rank_context& rank) {
        auto& state = states_[static_cast<std::size_t>(rank.rank)];
        bool const fresh = state == nullptr;
        if (!state)
          state = std::make_unique<run::rank_state<M, Optimizer>>(model_, plan_, optimizer_, where_.compute(),
                                                                  where_.options().seed, rank.rank, options.frozen,
                                                                  where_.device());
        std::function<void()> const load_start = [&] {
          if (fresh && start_) return start_(*state, rank);
          if (!options.warm_start.empty()) ckpt::load_parameters(warm_start.open(), state->master_parts(), rank);
        };
        run::fit_loop<example, M, Pipeline, Optimizer, Options>(where_, rank, *state, pipeline_, optimizer_, data,
                                                                options, load_start, report)
            .run();
      });
      if (report.preempted) {
        s.code = exit_code::preempted;
        s.reason = diag::signal_name(where_.stop_requested());
      }
    } catch (error const& e) {
      fail(e.code(), e.what());
    } catch (std::exception const& e) {
      fail(exit_code::internal, e.what());
    }
    s.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    s.lost_lines = where_.log().lost();
    workdir::summarise(s, report, where_.workdir(), where_.failures());
    evaluation_ = report.evaluation;
    measures_ = report.measures;
    return static_cast<int>(s.code);
  }

  /// What is wrong before any work. Errors: exit code 64, and 65 where there is no example.
  template <class Options>
  void check(std::int64_t size, Options const& options) {
    check_fit_options(options, size, where_.mesh().size(example_axes), Pipeline::has_predict);
    check_rates(optimizer_);
    bool const fresh = states_.front() == nullptr;
    if (!fresh && options.frozen != frozen_)
      throw error(exit_code::usage, "another fit of this trainer froze other parameters: make a new trainer");
    frozen_ = options.frozen;
  }

  /// Tells the plan, once; log.txt has it and the options of every run, and what failed here before.
  void log_start(std::string const& config) {
    log::run_log& log = where_.log();
    log.quiet_line("options " + options::to_json(where_.options()) + (config.empty() ? "" : "\nconfig " + config));
    std::string const plan = "plan: mesh " + options::to_text(plan_.mesh) + ", " +
                             std::string(name_of(where_.compute())) + "\n" + report::plan_text(plan_);
    if (std::exchange(plan_told_, true)) log.quiet_line(plan);
    else log.line(plan);
    if (std::string const again = where_.failures().repeated(); !again.empty()) log.warning(again);
  }

  void fail(exit_code code, std::string const& reason) {
    summary_.code = code;
    summary_.reason = reason;
    where_.log().line("error: " + reason);
  }

  deployer& where_;
  M model_;
  Pipeline pipeline_;
  Optimizer optimizer_;
  dynamic_plan plan_;
  bool plan_told_ = false;
  std::vector<std::unique_ptr<run::rank_state<M, Optimizer>>> states_;
  std::function<void(run::rank_state<M, Optimizer>&, rank_context&)> start_;
  std::vector<std::string> frozen_;
  workdir::run_summary summary_;
  metric_map evaluation_;
  std::vector<run::step_measure> measures_;
};

}  // namespace redco
