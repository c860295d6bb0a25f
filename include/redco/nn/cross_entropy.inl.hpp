#pragma once

#include <redco/nn/cross_entropy.hpp>

#include <redco/comm/group.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/tensor/device.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace redco::nn::detail {

/// Returns the class weights of `options` as f64 in CPU memory, or an undefined tensor if there are
/// none. Throws `error` with exit code 64 for wrong weights and a wrong smoothing.
inline at::Tensor checked_weights(std::int64_t classes, label_options const& options) {
  auto const refuse = [](std::string const& why) { throw error(exit_code::usage, "cross_entropy: " + why); };
  if (!(options.smoothing >= 0 && options.smoothing <= 1))
    refuse("label smoothing is " + std::to_string(options.smoothing) + "; give a number from 0 to 1");
  if (!options.weights.defined()) return {};
  if (options.weights.dim() != 1 || options.weights.size(0) != classes || !options.weights.is_floating_point())
    refuse("class weights are " + tensors::describe(options.weights) + "; give one number for each of " +
           std::to_string(classes) + " classes");
  at::Tensor const all = tensors::to_cpu(options.weights).to(at::kDouble);
  for (std::int64_t i = 0; i < classes; ++i)
    if (double const one = all.const_data_ptr<double>()[i]; !(one >= 0 && std::isfinite(one)))
      refuse("the weight of class " + std::to_string(i) + " is " + std::to_string(one) +
             "; give a finite number of at least 0");
  return all;
}

inline double counted_labels(char const* function, at::Tensor const& dense, std::int64_t classes,
                             label_options const& options = {}) {
  auto const* const first = dense.const_data_ptr<std::int64_t>();
  std::int64_t const per_example = dense.dim() > 1 ? dense.numel() / std::max<std::int64_t>(dense.size(0), 1) : 1;
  at::Tensor const weights = checked_weights(classes, options);
  double count = 0;
  for (std::int64_t i = 0; i < dense.numel(); ++i) {
    if (first[i] == options.ignored) continue;
    if (first[i] < 0 || first[i] >= classes)
      throw error(exit_code::data, std::string(function) + ": label " + std::to_string(first[i]) + " of example " +
                                       std::to_string(i / per_example) + " of this batch" +
                                       (per_example > 1 ? ", position " + std::to_string(i % per_example) + "," : "") +
                                       " is none of " + std::to_string(classes) + " classes: give 0 to " +
                                       std::to_string(classes - 1) + ", or " + std::to_string(options.ignored) +
                                       " for what does not count");
    count += weights.defined() ? weights.const_data_ptr<double>()[first[i]] : 1;
  }
  return count;
}

inline void check_type(char const* function, at::Tensor const& labels) {
  if (labels.scalar_type() != at::kLong)
    throw error(exit_code::data, std::string(function) + ": labels are " + tensors::describe(labels) +
                                     "; give int64 class numbers, as labels.to(at::kLong) does");
}

REDCO_INLINE double count_labels(at::Tensor const& labels, std::int64_t classes, label_options const& options) {
  check_type("cross_entropy", labels);
  return tensors::count_on_cpu(labels, [classes, options](at::Tensor const& dense) {
    return counted_labels("cross_entropy", dense, classes, options);
  });
}

REDCO_INLINE void check_labels(at::Tensor const& labels, std::int64_t classes) {
  check_type("log_probabilities", labels);
  tensors::check_on_cpu(labels,
                        [classes](at::Tensor const& dense) { counted_labels("log_probabilities", dense, classes); });
}

}  // namespace redco::nn::detail
