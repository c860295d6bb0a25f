#pragma once

#include <redco/run/deployer.hpp>
#include <redco/run/example_digest.hpp>
#include <redco/run/fit_result.hpp>
#include <redco/run/fit_runner.hpp>
#include <redco/run/load_weights.hpp>
#include <redco/run/pipeline_job.hpp>
#include <redco/run/planned.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/run/unused_flags.hpp>
#include <redco/run/verified_loop.hpp>
#include <redco/run/verify_result.hpp>
#include <redco/nn/network.hpp>
#include <redco/update/update.hpp>
#include <redco/comm/agreement.hpp>
#include <redco/comm/machines.hpp>
#include <redco/report/report_text.hpp>
#include <redco/report/run_request.hpp>
#include <redco/report/shard_report.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/cost/messages.hpp>
#include <redco/cost/setup.hpp>
#include <redco/shard/plan.hpp>
#include <redco/workdir/open_weights.hpp>
#include <redco/workdir/settings_of.hpp>
#include <redco/model/model.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/options/fit_options.hpp>
#include <redco/options/fit_settings.hpp>
#include <redco/options/launch.hpp>
#include <redco/optimizer/optimizer_description.hpp>
#include <redco/pipeline/pipeline.hpp>
#include <redco/meta/type_name.hpp>
#include <redco/adapt/adapting.hpp>
#include <redco/adapt/save_adapter.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco {

/// Fits a model to examples on the deployer's mesh, with a pipeline of the user's functions and an
/// optimizer. Options that a fit leaves open come from the program's `training_flags`, which can
/// also provide the optimizer. Throws `error` with exit code 64 if the mesh cannot hold the model,
/// the learning rate is invalid, or the workdir cannot be used.
///
///   redco::trainer trainer(deployer, model, pipeline, redco::adamw{.lr = 3e-4});
///   auto const result = trainer.fit(train, {.epochs = 3, .global_batch = 16, .eval = dev});
template <model M, class Pipeline>
class trainer {
 public:
  using model_type = M;
  using pipeline_type = Pipeline;
  using net = bound_network<M>;
  template <class Example>
  using batch = pipelines::batch_of<Pipeline, Example>;
  template <class Example>
  using output = typename run::prediction<Pipeline, net, Example>::type;
  template <class Example>
  using options_for =
      fit_options<Example, output<Example>,
                  options::detail::hook<std::function<void(run::training_step&, net const&, batch<Example> const&)>,
                                        batch<Example>>>;

  /// False if a function of the pipeline has caused a compile error; later checks then report no
  /// further errors.
  template <class Example>
  static constexpr bool sound =
      !std::is_same_v<batch<Example>, diag::ill_formed> && !std::is_same_v<output<Example>, diag::ill_formed> &&
      !std::is_same_v<pipelines::loss_of<Pipeline, net, batch<Example>>, diag::ill_formed>;

  template <update::optimizer Optimizer>
  trainer(deployer& where, M m, Pipeline pipeline, Optimizer const& optimizer)
      : trainer(by_rule(), where, std::move(m), std::move(pipeline), optimizer, training_flags()) {
    warn_of_unused_flags(optimizer, nullptr);
  }
  /// The optimizer flags have no effect, because `optimizer` replaces them. Logs a warning that
  /// names the flags that are set to other values than the optimizer's.
  template <update::optimizer Optimizer>
  trainer(deployer& where, M m, Pipeline pipeline, Optimizer const& optimizer, training_flags const& flags)
      : trainer(by_rule(), where, std::move(m), std::move(pipeline), optimizer, flags) {
    warn_of_unused_flags(optimizer, &flags);
  }
  trainer(deployer& where, M m, Pipeline pipeline, training_flags const& flags)
      : trainer(by_rule(), where, std::move(m), std::move(pipeline), flags.optimizer(), flags) {}
  trainer(trainer const&) = delete;
  trainer& operator=(trainer const&) = delete;

  shard::dynamic_plan const& plan() const { return runner_.plan(); }

  /// Returns a text with the plan (split of every parameter, with reasons), the bytes of one rank
  /// and the messages of a step, without running anything. `global`: the global batch and the
  /// length of its examples. `micro_batch`: examples that a replica computes at once; 0 for all.
  /// Without a call of report(), the first fit prints the plan. Throws `error` with exit code 64 if
  /// pipeline stages cannot compute these micro-batches in the order of --schedule.
  std::string report(workload const& global, std::int64_t micro_batch = 0) {
    runner_.plan_is_printed();
    cost::setup run =
        report::setup_of(plan().mesh, global, micro_batch, where().compute(), where().options().recompute);
    run.hosts = options::launched().processes;
    run.machines = comm::machines_of(plan().mesh).hosts;
    run.zero = where().zero();
    run.overlap_shards = where().overlaps_shards();
    run::set_stages(run, plan().stages, where().schedule());
    auto const found = report_of(model_, optimizer_, run);
    where().page().planned_bytes = found.cost.memory.peak();
    return report_text(found);
  }

  /// Trains the model on `train`, any random-access range, with the `fit_options` `options`. A
  /// second fit continues from the parameters of the first, or from the newest checkpoint with
  /// --resume auto. Throws `error` with exit code 75 if a signal ends the run, after the run is
  /// saved. Throws 79 if a loss is not finite. Adds the step and the function's name to errors of
  /// the user's functions.
  template <class Range>
  fit_result fit(Range&& train, options_for<data::example_of<std::remove_cvref_t<Range>>> const& options = {}) {
    using example = data::example_of<std::remove_cvref_t<Range>>;
    if constexpr (sound<example>) return fit_examples<example>(std::forward<Range>(train), options);
    else return {};
  }

  /// Computes the first `steps` updates of fit(train, options) on one rank and on the mesh, and
  /// compares losses, gradients, updates and optimizer states. The trainer's networks stay
  /// unchanged, and nothing is saved. All processes call it. Throws the errors of fit(). With the
  /// option --verify, fit() does the same, prints the differences and ends the program.
  template <class Range>
  run::verify_result verify(Range&& train,
                            options_for<data::example_of<std::remove_cvref_t<Range>>> const& options = {},
                            std::int64_t steps = 2) {
    using example = data::example_of<std::remove_cvref_t<Range>>;
    if constexpr (sound<example>) return verified<example>(std::forward<Range>(train), options, steps);
    else return {};
  }

  /// Makes the first fit start from the weights in opened files. The overload takes a path for
  /// `open_weights`, such as a checkpoint. To read names of Hugging Face files, include
  /// redco/pretrained/pretrained.hpp or redco/pretrained/stored_names/FAMILY.hpp. Throws `error`
  /// with exit code 65 if there are no weights. If the weights do not fit the model, fit() throws
  /// `error` with exit code 65 and the first 20 differences.
  void start_from(safetensors::weights_source weights) {
    runner_.start_from(std::move(weights), models::stored_table_of(model_));
  }
  void start_from(std::filesystem::path const& files) { start_from(workdir::open_weights(files)); }
  /// Makes the first fit start from the weights of a `pretrained_folder` (Hugging Face format).
  /// Logs the keys, tensors and files of the folder that are not used. Warns about each layer in
  /// the option `fresh`, which is not loaded and starts with random values. Throws the errors of
  /// `pretrained_folder::check_trainable`.
  template <run::weighted Folder>
  void start_from(Folder const& folder) {
    if constexpr (requires { folder.check_trainable(); }) folder.check_trainable();
    run::log_notices(where().log(), folder);
    start_from(folder.weights());
  }

  /// Makes the first fit of a `with_lora` model start its LoRA adapters from an `adapter_folder`.
  /// If the adapters do not fit the model, fit() throws `error` with exit code 65.
  template <adapt::adapting Folder>
  void start_from(Folder const& adapter) {
    runner_.start_adapters_from(adapter.weights(), models::stored_names_of(model_));
  }

  /// Adds `state` to the checkpoints of fits: any type that cereal can serialize or that has
  /// `serialize(archive)`. The object must outlive the trainer; the user's functions `on_step` and
  /// `on_epoch` may change it. Rank 0's object is saved, and a resumed fit reads it in every
  /// process. The fit throws `error` with exit code 64 if another object has this name, 65 if the
  /// checkpoint lacks the object.
  template <class State>
  void keep(std::string const& name, State& state) {
    runner_.keep(name, run::run_state::kept(state));
  }

  /// Saves the weights to the folder `directory`, under Hugging Face's names for a known model
  /// family, else under redco's own names. With `pretrained_folder::save_options`, saves the whole
  /// folder. LoRA adapters are merged into the weights. `start_from` and `inference` read the
  /// folder. Throws `error` with exit code 70 before the first fit, 74 if writing fails.
  void save_model(std::filesystem::path const& directory, save_model_options const& options = {}) const {
    runner_.save_model(directory, models::stored_names_of(model_), options);
  }

  /// Saves only the LoRA adapters of a `with_lora` model to the folder `directory`, in PEFT's
  /// format; `options` has its settings. Throws the errors of `redco::adapt::save_adapter`, and
  /// `error` with exit code 70 before the first fit.
  void save_adapter(std::filesystem::path const& directory, adapt::save_adapter_options const& options = {}) const {
    runner_.save_adapter(directory, models::stored_names_of(model_), model_.config.lora, options);
  }

  /// Returns the trained network and optimizer of each rank, by rank; null before the first fit and
  /// for ranks of other processes.
  std::vector<std::unique_ptr<run::network_state>> const& states() const { return runner_.states(); }
  deployer& where() const { return runner_.where(); }
  Pipeline const& pipeline() const { return pipeline_; }

 private:
  struct by_rule {};

  template <class Rule>
  trainer(by_rule, deployer& where, M m, Pipeline pipeline, Rule const& rule, training_flags const& flags)
      : model_(compared(where, std::move(m), rule)),
        pipeline_(std::move(pipeline)),
        optimizer_(rule),
        flags_(flags),
        runner_(where, run::planned(model_, where.mesh(), where), workdir::settings_of(model_, rule, where.compute()),
                [this, &where](rank_context const& rank, shard::dynamic_plan const& plan,
                               std::vector<std::string> const& frozen) {
                  return std::make_unique<run::trained_network<M>>(model_, plan, optimizer_, where.compute(),
                                                                   where.options().seed, rank.rank, frozen,
                                                                   where.device(rank.rank), where.zero());
                }) {
    optimizer::check_rates(optimizer_);
  }

  template <class Rule>
  void warn_of_unused_flags(Rule const& rule, training_flags const* flags) {
    run::warn_of_unused_flags(flags, workdir::settings_of(model_, rule, where().compute()), where().log());
  }

  /// Compares the model and the optimizer between all processes, and returns the model. Throws
  /// `error` with exit code 64 on all processes if they differ.
  template <class Optimizer>
  static M compared(deployer& where, M m, Optimizer const& optimizer) {
    where.agree([&](comm::agreement& all) {
      all.add("model", std::string(meta::type_name<M>()));
      all.add(workdir::settings_of(m, optimizer, where.compute()));
    });
    return m;
  }

  /// Compares the settings of a fit between all processes, then returns `use(settings, make)`.
  /// `make` is a function that makes the `fit_job` of a rank.
  template <class Example, class Range, class Options, class Use>
  auto with_job(Range&& train, Options const& options, Use const& use) {
    examples<Example> const data(std::forward<Range>(train));
    options::fit_settings const settings =
        options::settings_of_fit(options, flags_, data.size(), Pipeline::has_predict);
    where().agree([&](comm::agreement& all) {
      std::map<std::string, std::string> course;
      workdir::add_course(course, settings);
      // check_fit refuses other batch sizes later.
      if (*settings.global_batch > 0)
        workdir::add_rates(course, optimizer_, options::run_length_of(settings, settings.train_size).steps);
      all.add(course);
      if (!options.train_of_epoch)
        all.add("the digest of the first and last training example", run::digest_of_ends(data));
      all.add("the digest of the first and last evaluation example", run::digest_of_ends(options.eval));
    });
    using job = run::pipeline_job<Example, M, Pipeline, Options>;
    typename job::slots predictions;
    return use(settings, [&](run::network_state& state) {
      auto const& own = static_cast<run::trained_network<M> const&>(state);
      return std::make_unique<job>(pipeline_, own.net, data, options, predictions);
    });
  }

  template <class Example, class Range, class Options>
  fit_result fit_examples(Range&& train, Options const& options) {
    if (where().options().verify)
      run::end_verification(where(),
                            verified<Example>(std::forward<Range>(train), options, where().options().verify_steps));
    return with_job<Example>(std::forward<Range>(train), options,
                             [&](auto const& settings, auto const& make) { return runner_.fit(settings, make); });
  }

  template <class Example, class Range, class Options>
  run::verify_result verified(Range&& train, Options const& options, std::int64_t steps) {
    run::planned_messages planned;
    if (!models::has_encoder<models::net_of<M>> || where().mesh().pp == 1)
      planned = [this](cost::setup run, int stage) {
        if (run.mesh.pp == 1) return cost::cost_of(model_, optimizer_, run).messages;
        run::set_stages(run, plan().stages, where().schedule());
        auto const stages =
            cost::stage_costs(shard::facts_of(model_, run.rank_load()), optimizer::demands_of(optimizer_), run);
        return stages.at(static_cast<std::size_t>(stage)).cost.messages;
      };
    return with_job<Example>(std::forward<Range>(train), options, [&](auto const& settings, auto const& make) {
      return runner_.verify(settings, make, planned, steps);
    });
  }

  M model_;
  Pipeline pipeline_;
  update::any_optimizer optimizer_;
  training_flags flags_;
  run::fit_runner runner_;
};

template <model M, class Pipeline, class Optimizer>
trainer(deployer&, M, Pipeline, Optimizer) -> trainer<M, Pipeline>;
template <model M, class Pipeline, class Optimizer>
trainer(deployer&, M, Pipeline, Optimizer, training_flags) -> trainer<M, Pipeline>;

}  // namespace redco
