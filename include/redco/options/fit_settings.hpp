#pragma once

#include <redco/options/fit_options.hpp>
#include <redco/meta/for_each_shared.hpp>

#include <algorithm>
#include <cstdint>

namespace redco::options {

/// The settings of a fit: `fit_options` without the types of examples, and with every default
/// filled in. Training code that is compiled once for all programs reads them.
struct fit_settings : fit_options<detail::untyped, detail::untyped, detail::untyped> {
  std::int64_t train_size = 0, eval_size = 0;  ///< numbers of training and evaluation examples
  /// True if the program provides the function after which the member is named, such as
  /// `train_step`.
  bool has_train_of_epoch = false, has_predict = false, has_metrics = false, has_length = false, has_train_step = false;

  /// Returns true if evaluations also predict the examples, for `metrics` or for an outputs file.
  bool predicts() const { return eval_predictions || has_metrics; }
};

/// Returns the settings of a fit on `train_size` examples. `flags` provide the options of `o` that
/// are empty.
template <class Options>
fit_settings settings_of_fit(Options const& o, training_flags const& flags, std::int64_t train_size, bool has_predict) {
  fit_settings s;
  meta::for_each_shared(o, s, [](auto const& option, auto& setting) { setting = option; });
  meta::for_each_shared(flags, s, [](auto const& flag, auto& setting) {
    if (!setting) setting = flag;
  });
  s.train_size = train_size;
  s.eval_size = o.eval.size();
  s.has_train_of_epoch = static_cast<bool>(o.train_of_epoch);
  s.has_predict = has_predict;
  if constexpr (requires { static_cast<bool>(o.metrics); }) s.has_metrics = static_cast<bool>(o.metrics);
  s.has_length = static_cast<bool>(o.length);
  if constexpr (requires { static_cast<bool>(o.train_step); }) s.has_train_step = static_cast<bool>(o.train_step);
  return s;
}

/// The length of a run: number of examples per epoch, of steps per epoch, and of steps of the run.
struct run_length {
  std::int64_t examples = 0;
  std::int64_t steps_per_epoch = 0;
  std::int64_t steps = 0;
};

/// Returns the length of a run whose epochs have `examples` examples. Requires settings that
/// check_fit() accepts.
inline run_length run_length_of(fit_settings const& s, std::int64_t examples) {
  std::int64_t const per_epoch = (examples + *s.global_batch - 1) / *s.global_batch;
  std::int64_t const all = per_epoch * static_cast<std::int64_t>(*s.epochs);
  return {examples, per_epoch, *s.max_steps > 0 ? std::min(all, *s.max_steps) : all};
}

/// Checks the settings of a fit over `replicas` data-parallel replicas before any work. Throws
/// `error` with exit code 64 for invalid settings and 65 if there are no examples.
void check_fit(fit_settings const& settings, int replicas);

}  // namespace redco::options

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/fit_settings.inl.hpp>
#endif
