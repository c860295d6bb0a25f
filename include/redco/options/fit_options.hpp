#pragma once

#include <redco/options/choices.hpp>
#include <redco/data/examples.hpp>
#include <redco/optimizer/groups.hpp>
#include <redco/optimizer/norm_kind.hpp>
#include <redco/diag/blame.hpp>
#include <redco/meta/fields.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace redco::options {

template <>
inline constexpr std::array choices<optimizer::rule_kind> = optimizer::rule_texts.values();
template <>
inline constexpr std::array choices<optimizer::norm_kind> = optimizer::norm_texts.values();

/// A map of an evaluation's metrics: values by name.
using metric_map = std::map<std::string, double>;

}  // namespace redco::options

namespace redco::options::detail {

/// The type of a user's function that receives values of type `Seen`. If a compile error was
/// reported for `Seen` already (diag::ill_formed), the result is diag::ill_formed, so that the user
/// sees one error only. Other headers specialise this template.
template <class Function, class Seen>
struct hook_for {
  using type = Function;
};
template <class Function>
struct hook_for<Function, diag::ill_formed> {
  using type = diag::ill_formed;
};
template <class Function, class Seen>
using hook = typename hook_for<Function, Seen>::type;

/// A placeholder for the types of a program in the settings of a fit, which have no examples and no
/// functions of them.
struct untyped {};
template <class Function>
struct hook_for<Function, untyped> {
  using type = untyped;
};

}  // namespace redco::options::detail

namespace redco {

/// Command-line options of training, to be nested in a program's options. A program sets its own
/// defaults where it declares the member:
///
///   struct my_options {
///     redco::deployer_options deployer;
///     redco::training_flags training{.max_steps = 300, .lr = 1e-3};
struct training_flags {
  int epochs = 1;
  std::int64_t max_steps = 0, global_batch = 8, micro_batch = 0, warmup = 0;
  int collate_threads = 1;
  double lr = 1e-3, weight_decay = 0.01, clip_norm = 1;
  optimizer::norm_kind clip_kind = optimizer::norm_kind::l2;
  optimizer::rule_kind rule = optimizer::rule_kind::adamw;
  std::optional<double> momentum = {}, beta1 = {}, beta2 = {};

  static constexpr auto fields() {
    using o = training_flags;
    return redco::fields(
        field<"epochs">(&o::epochs, "passes over the examples").at_least(0).in_group("training"),
        field<"max_steps">(&o::max_steps, "largest number of updates; 0: all of the epochs")
            .at_least(0)
            .in_group("training"),
        field<"global_batch">(&o::global_batch, "examples of one update, over all ranks")
            .at_least(1)
            .in_group("training"),
        field<"micro_batch">(&o::micro_batch,
                             "examples that a data-parallel shard computes at once; 0: all of its share")
            .at_least(0)
            .in_group("training"),
        field<"collate_threads">(&o::collate_threads, "threads of each rank that make batches in advance")
            .at_least(1)
            .in_group("training")
            .per_process(),
        field<"lr">(&o::lr, "peak of the learning rate, which then falls to 0").at_least(0).in_group("training"),
        field<"warmup">(&o::warmup, "updates until the peak").at_least(0).in_group("training"),
        field<"optimizer">(&o::rule, "rule that updates the parameters").in_group("training"),
        field<"momentum">(&o::momentum, "momentum of sgd (default 0) and muon (0.95)")
            .at_least(0)
            .at_most(1)
            .in_group("training"),
        field<"beta1">(&o::beta1, "decay of the average of gradients, of all rules but sgd")
            .at_least(0)
            .at_most(1)
            .in_group("training"),
        field<"beta2">(&o::beta2,
                       "decay of the average of squares (lion: of gradients), of all rules but sgd, adafactor")
            .at_least(0)
            .at_most(1)
            .in_group("training"),
        field<"weight_decay">(&o::weight_decay, "weight decay of the optimizer").at_least(0).in_group("training"),
        field<"clip_norm">(&o::clip_norm, "largest gradient norm; 0: no clipping").at_least(0).in_group("training"),
        field<"clip_kind">(&o::clip_kind, "norm that --clip-norm limits: l2, or inf for the largest element")
            .in_group("training"));
  }

  friend bool operator==(training_flags const&, training_flags const&) = default;

  /// Returns the chosen rule with the learning rates, weight decay, clipping norm and averages of
  /// these flags. Throws `error` with exit code 64 for a flag that the rule does not have.
  redco::optimizer::chosen_rule optimizer() const;
};

/// The data of a step or an epoch that the user's functions `on_step` and `on_epoch` receive on
/// rank 0.
struct fit_event {
  std::int64_t step = 0;  ///< number of steps done
  int epoch = 0;          ///< index of the current epoch, from 0
  double loss = 0;
  double lr = 0;
  double grad_norm = 0;
  /// For `on_step`, the terms of the step's loss; for `on_epoch`, the metrics of the evaluation.
  options::metric_map metrics = {};
};

/// Options of fitting a model to examples. `global_batch` counts examples over all ranks, so the
/// steps do not depend on the mesh. If `epochs`, `max_steps`, `global_batch`, `micro_batch` or
/// `collate_threads` is empty, the trainer's `training_flags` provide it, with the default that the
/// member's comment names.
template <class Example, class Output, class CustomStep>
struct fit_options {
  std::optional<int> epochs = {};  ///< number of passes over the examples; default 1
  /// Number of steps after which the fit ends; 0 (default) to run all epochs.
  std::optional<std::int64_t> max_steps = {};
  /// Number of examples per step over all ranks; default 8.
  std::optional<std::int64_t> global_batch = {};
  /// Number of examples that a replica computes at once. 0 (default): its whole share of the step.
  std::optional<std::int64_t> micro_batch = {};

  /// Number of micro-batches that each rank collates in advance, at least `collate_threads`. 0
  /// collates in the step.
  int prefetch = 2;
  /// Number of threads of each rank that collate in advance; default 1. No result depends on it.
  std::optional<int> collate_threads = {};
  /// Unit of the reported throughput, such as "tokens" or "images". If empty, the unit is derived
  /// from the members of the batch type.
  std::string unit = {};

  /// Function that returns the examples of an epoch, if they differ between epochs.
  options::detail::hook<std::function<examples<Example>(int epoch)>, Example> train_of_epoch = {};
  /// Function that returns the length of an example, so that collate can pad to the longest example
  /// of the global batch.
  options::detail::hook<data::length_of<Example>, Example> length = {};
  CustomStep train_step = {};  ///< user's function that replaces loss and backward of a micro-batch

  options::detail::hook<examples<Example>, Example> eval = {};
  /// Number of steps between evaluations, in addition to the evaluation after each epoch; 0 for
  /// none.
  std::int64_t eval_every_steps = 0;
  /// True to predict the examples `eval` in evaluations and write outputs_epoch<i>.json. Implied by
  /// `metrics`.
  bool eval_predictions = false;
  options::detail::hook<std::function<options::metric_map(std::span<Example const>, std::span<Output const>)>, Output>
      metrics = {};
  /// True to evaluate a few examples before training, so that mistakes show early.
  bool sanity_check = true;
  /// Number of evaluations without improvement after which the fit stops; 0 to never stop early.
  /// The metric that must improve is the first of save_argmin, then save_argmax. Requires `eval`.
  int patience = 0;
  /// True to end with the best checkpoint instead of the last state, unless a signal ends the run.
  /// Best is judged by the first metric of save_argmin, then save_argmax. The result of the fit
  /// then has this checkpoint's evaluation.
  bool restore_best = false;

  std::int64_t save_every_steps = 0;
  /// Number of epochs between checkpoints that are kept as epoch_<i>; 0 for none.
  int save_every_epochs = 0;
  bool save_last = true;  ///< True to save a checkpoint at the end of each epoch and of the run.
  /// Metrics to minimise; the checkpoint of each metric's best step is kept as min_<metric>.
  std::vector<std::string> save_argmin = {"loss"};
  std::vector<std::string> save_argmax = {};
  int keep_last = 2;  ///< number of newest checkpoints without a name to keep; 0 to keep all

  std::vector<std::string> frozen = {};  ///< name patterns of parameters that are not trained
  /// Safetensors file from which the parameters start; empty for none.
  std::filesystem::path warm_start = {};
  std::string config = {};  ///< JSON text of the program's options, written to config.json

  /// Functions called on rank 0: `on_step` after each step, `on_epoch` after each epoch. All other
  /// ranks wait until the call returns, at most for the time of the option --deadline.
  std::function<void(fit_event const&)> on_step = {};
  std::function<void(fit_event const&)> on_epoch = {};

  /// Declares the options that training code reads in `fit_settings`. All processes must agree on
  /// an option unless it is `per_process`.
  static constexpr auto fields() {
    using o = fit_options;
    return redco::fields(
        field<"epochs">(&o::epochs).at_least(0).recorded(), field<"max_steps">(&o::max_steps).at_least(0).recorded(),
        field<"global_batch">(&o::global_batch).recorded(), field<"micro_batch">(&o::micro_batch).recorded(),
        field<"prefetch">(&o::prefetch).at_least(0).per_process(),
        field<"collate_threads">(&o::collate_threads).at_least(1).per_process(), field<"unit">(&o::unit).per_process(),
        field<"eval_every_steps">(&o::eval_every_steps).at_least(0), field<"eval_predictions">(&o::eval_predictions),
        field<"sanity_check">(&o::sanity_check), field<"patience">(&o::patience).at_least(0).recorded(),
        field<"restore_best">(&o::restore_best), field<"save_every_steps">(&o::save_every_steps).at_least(0),
        field<"save_every_epochs">(&o::save_every_epochs).at_least(0), field<"save_last">(&o::save_last),
        field<"save_argmin">(&o::save_argmin), field<"save_argmax">(&o::save_argmax),
        field<"keep_last">(&o::keep_last).at_least(0), field<"frozen">(&o::frozen).recorded(),
        field<"warm_start">(&o::warm_start), field<"config">(&o::config).per_process(),
        field<"on_step">(&o::on_step).per_process(), field<"on_epoch">(&o::on_epoch).per_process());
  }
};

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/fit_options.inl.hpp>
#endif
