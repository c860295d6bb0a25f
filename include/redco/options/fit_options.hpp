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

/// What hooks see after a step or an epoch, on rank 0.
struct fit_event {
  std::int64_t step = 0;  ///< updates done
  int epoch = 0;          ///< counted from 0
  double loss = 0;
  double lr = 0;
  double grad_norm = 0;
  metric_map metrics = {};  ///< terms of the loss after a step; of the evaluation after an epoch
};

namespace detail {

/// A function of a user that sees a value of type `Seen`; anything where that value was refused, so that one error stays one. Others
/// specialise it for what cannot be seen.
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

/// How a model is fitted to examples. Batch sizes are global: another mesh is the same job. The first four are, where they are
/// not given, those of the trainer's `training_flags`, whose own defaults stand here.
template <class Example, class Output, class CustomStep>
struct fit_options {
  std::optional<int> epochs = {};              ///< 1
  std::optional<std::int64_t> max_steps = {};  ///< at most so many updates; 0: all of the epochs, which is the default
  std::optional<std::int64_t> global_batch = {};  ///< examples of one update over all ranks; 8
  std::optional<std::int64_t> micro_batch = {};  ///< examples that a data-parallel shard computes at once; 0: its share

  int prefetch = 2;       ///< micro-batches collated ahead by a thread of each rank
  std::string unit = {};  ///< what is counted per second, "tokens", "images" ...; empty: by the batch's members

  std::function<examples<Example>(int epoch)> train_of_epoch = {};  ///< instead of the same examples in every epoch
  length_of<Example> length = {};  ///< lets collate pad to the longest of the global batch
  CustomStep train_step = {};      ///< instead of loss and backward of a micro-batch

  examples<Example> eval = {};
  std::int64_t eval_every_steps = 0;  ///< besides the end of each epoch
  bool eval_predictions = false;      ///< run predict on `eval` too, write outputs_epoch<i>.json; `metrics` implies it
  detail::hook<std::function<metric_map(std::span<Example const>, std::span<Output const>)>, Output> metrics = {};
  bool sanity_check = true;  ///< evaluate a few examples before training, so that a mistake there shows at once
  /// Stop after so many evaluations (of this fit) without a better first metric of argmin, argmax; 0: never. Needs `eval`.
  int patience = 0;
  /// End with the best checkpoint of that metric instead of the last state, however the run ends but by a signal; the
  /// evaluation is then its own.
  bool restore_best = false;

  std::int64_t save_every_steps = 0;
  int save_every_epochs = 0;                        ///< under the name epoch_<i>
  bool save_last = true;                            ///< at the end of each epoch and of the run
  std::vector<std::string> save_argmin = {"loss"};  ///< metrics whose best checkpoint stays as min_<metric>
  std::vector<std::string> save_argmax = {};
  int keep_last = 2;  ///< checkpoints that stay besides the named ones; 0: all

  std::vector<std::string> frozen = {};   ///< parameter name patterns that are not trained
  std::filesystem::path warm_start = {};  ///< a safetensors file of parameters to start from
  std::string config = {};                ///< JSON text, written to config.json

  /// Called by rank 0 while the others wait, at most the deployer's deadline.
  std::function<void(fit_event const&)> on_step = {};
  std::function<void(fit_event const&)> on_epoch = {};
};

}  // namespace redco
