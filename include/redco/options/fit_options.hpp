#pragma once

#include <redco/data/examples.hpp>
#include <redco/diag/blame.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace redco {

/// Metrics of an evaluation by name.
using metric_map = std::map<std::string, double>;

/// Data that the hooks on_step and on_epoch receive on rank 0.
struct fit_event {
  std::int64_t step = 0;  ///< number of finished updates
  int epoch = 0;          ///< index of the epoch, from 0
  double loss = 0;
  double lr = 0;
  double grad_norm = 0;
  /// Terms of the loss after a step; metrics of the evaluation after an epoch
  metric_map metrics = {};
};

namespace detail {

/// Type of a user function that receives values of type `Seen`. If `Seen` was already rejected
/// (diag::ill_formed), the result is diag::ill_formed, so that the user sees one error only. Other
/// rooms add specialisations.
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

}  // namespace detail

/// Options of fitting a model to examples. Batch sizes are global, so another mesh computes an
/// equal job. If one of the first four is empty, the trainer's `training_flags` apply; the member
/// comments give their defaults.
template <class Example, class Output, class CustomStep>
struct fit_options {
  std::optional<int> epochs = {};  ///< number of passes over the examples; default 1
  /// Maximum number of updates; 0 (default) runs all epochs
  std::optional<std::int64_t> max_steps = {};
  std::optional<std::int64_t> global_batch = {};  ///< examples per update over all ranks; default 8
  /// Examples that a data-parallel replica computes at once. 0 (default) computes its whole share
  /// at once.
  std::optional<std::int64_t> micro_batch = {};

  int prefetch = 2;  ///< micro-batches that a thread of each rank collates ahead
  /// Unit of the reported throughput, such as "tokens" or "images". If empty, the unit follows from
  /// the members of the batch.
  std::string unit = {};

  /// Returns the examples of an epoch, for examples that differ between epochs.
  std::function<examples<Example>(int epoch)> train_of_epoch = {};
  /// Returns the length of an example, so that collate can pad to the longest example of the global
  /// batch.
  length_of<Example> length = {};
  CustomStep train_step = {};  ///< replaces loss and backward of a micro-batch

  examples<Example> eval = {};
  /// Steps between evaluations, in addition to one after each epoch
  std::int64_t eval_every_steps = 0;
  /// Run predict on `eval` and write outputs_epoch<i>.json. Implied by `metrics`.
  bool eval_predictions = false;
  detail::hook<std::function<metric_map(std::span<Example const>, std::span<Output const>)>, Output> metrics = {};
  bool sanity_check = true;  ///< evaluate a few examples before training, to find mistakes early
  /// Number of evaluations of this fit without improvement of the watched metric after which the
  /// fit stops. The watched metric is the first of save_argmin, save_argmax. 0 never stops early.
  /// Requires `eval`.
  int patience = 0;
  /// End with the best checkpoint of the watched metric (the first of save_argmin, save_argmax)
  /// instead of the last state, unless a signal ends the run. The result contains the evaluation of
  /// this checkpoint.
  bool restore_best = false;

  std::int64_t save_every_steps = 0;
  int save_every_epochs = 0;  ///< epochs between checkpoints named epoch_<i>
  bool save_last = true;      ///< save at the end of each epoch and of the run
  /// Metrics whose best (smallest) checkpoint is kept as min_<metric>
  std::vector<std::string> save_argmin = {"loss"};
  std::vector<std::string> save_argmax = {};
  int keep_last = 2;  ///< number of latest unnamed checkpoints to keep; 0 keeps all

  std::vector<std::string> frozen = {};   ///< name patterns of parameters that are not trained
  std::filesystem::path warm_start = {};  ///< safetensors file of initial parameters
  std::string config = {};                ///< JSON text to be written to config.json

  /// Called on rank 0 after each step; on_epoch is called on rank 0 after each epoch. All other
  /// ranks wait for the call to return, at most for the deployer's deadline.
  std::function<void(fit_event const&)> on_step = {};
  std::function<void(fit_event const&)> on_epoch = {};
};

}  // namespace redco
