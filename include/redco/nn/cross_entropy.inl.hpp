#pragma once

#include <redco/nn/cross_entropy.hpp>

#include <redco/comm/group.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/tensor/device.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace redco::nn::detail {

inline double counted_labels(char const* function, at::Tensor const& dense, std::int64_t classes) {
  auto const* const first = dense.const_data_ptr<std::int64_t>();
  std::int64_t const per_example = dense.dim() > 1 ? dense.numel() / std::max<std::int64_t>(dense.size(0), 1) : 1;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < dense.numel(); ++i) {
    if (first[i] == -100) continue;
    if (first[i] < 0 || first[i] >= classes)
      throw error(exit_code::data, std::string(function) + ": label " + std::to_string(first[i]) + " of example " +
                                       std::to_string(i / per_example) + " of this batch" +
                                       (per_example > 1 ? ", position " + std::to_string(i % per_example) + "," : "") +
                                       " is none of " + std::to_string(classes) + " classes: give 0 to " +
                                       std::to_string(classes - 1) + ", or -100 for what does not count");
    ++count;
  }
  return static_cast<double>(count);
}

inline void check_type(char const* function, at::Tensor const& labels) {
  if (labels.scalar_type() != at::kLong)
    throw error(exit_code::data, std::string(function) + ": labels are " + tensors::describe(labels) +
                                     "; give int64 class numbers, as labels.to(at::kLong) does");
}

REDCO_INLINE double count_labels(at::Tensor const& labels, std::int64_t classes) {
  check_type("cross_entropy", labels);
  return tensors::count_on_cpu(
      labels, [classes](at::Tensor const& dense) { return counted_labels("cross_entropy", dense, classes); });
}

REDCO_INLINE void check_labels(at::Tensor const& labels, std::int64_t classes) {
  check_type("log_probabilities", labels);
  tensors::check_on_cpu(labels,
                        [classes](at::Tensor const& dense) { counted_labels("log_probabilities", dense, classes); });
}

}  // namespace redco::nn::detail
