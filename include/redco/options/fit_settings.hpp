#pragma once

#include <redco/options/fit_options.hpp>
#include <redco/options/training_flags.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace redco::options {

/// The settings of a fit: `fit_options` without the types of examples, and with every default
/// filled in. Training code that is compiled once for all programs reads them.
struct fit_settings {
  int epochs = 1;
  std::int64_t max_steps = 0, global_batch = 8, micro_batch = 0;
  int prefetch = 2;
  std::string unit = {};
  std::int64_t train_size = 0, eval_size = 0;  ///< numbers of training and evaluation examples
  /// True if the program provides the function after which the member is named, such as
  /// `train_step`.
  bool train_of_epoch = false, has_predict = false, has_metrics = false, has_length = false, has_train_step = false;
  std::int64_t eval_every_steps = 0;
  bool eval_predictions = false, sanity_check = true;
  int patience = 0;
  bool restore_best = false;
  std::int64_t save_every_steps = 0;
  int save_every_epochs = 0;
  bool save_last = true;
  std::vector<std::string> save_argmin = {}, save_argmax = {};
  int keep_last = 2;
  std::vector<std::string> frozen = {};
  std::filesystem::path warm_start = {};
  std::string config = {};
  std::function<void(fit_event const&)> on_step = {}, on_epoch = {};

  /// Returns true if evaluations also predict the examples, for `metrics` or for an outputs file.
  bool predicts() const { return eval_predictions || has_metrics; }
};

/// Returns the settings of a fit on `train_size` examples. `flags` provide the options of `o` that
/// are empty.
template <class Options>
fit_settings settings_of_fit(Options const& o, training_flags const& flags, std::int64_t train_size, bool has_predict) {
  fit_settings s;
  s.epochs = o.epochs.value_or(flags.epochs);
  s.max_steps = o.max_steps.value_or(flags.max_steps);
  s.global_batch = o.global_batch.value_or(flags.global_batch);
  s.micro_batch = o.micro_batch.value_or(flags.micro_batch);
  s.prefetch = o.prefetch;
  s.unit = o.unit;
  s.train_size = train_size;
  s.eval_size = o.eval.size();
  s.train_of_epoch = static_cast<bool>(o.train_of_epoch);
  s.has_predict = has_predict;
  if constexpr (requires { static_cast<bool>(o.metrics); }) s.has_metrics = static_cast<bool>(o.metrics);
  s.has_length = static_cast<bool>(o.length);
  if constexpr (requires { static_cast<bool>(o.train_step); }) s.has_train_step = static_cast<bool>(o.train_step);
  s.eval_every_steps = o.eval_every_steps;
  s.eval_predictions = o.eval_predictions;
  s.sanity_check = o.sanity_check;
  s.patience = o.patience;
  s.restore_best = o.restore_best;
  s.save_every_steps = o.save_every_steps;
  s.save_every_epochs = o.save_every_epochs;
  s.save_last = o.save_last;
  s.save_argmin = o.save_argmin;
  s.save_argmax = o.save_argmax;
  s.keep_last = o.keep_last;
  s.frozen = o.frozen;
  s.warm_start = o.warm_start;
  s.config = o.config;
  s.on_step = o.on_step;
  s.on_epoch = o.on_epoch;
  return s;
}

}  // namespace redco::options
