#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::nn::detail {

/// Returns the number of int64 labels [examples, ...] other than -100, the label that losses
/// ignore. Throws `error` with exit code 65 if a label is outside [0, classes), with the label and
/// its example, or if the labels are not int64.
double count_labels(at::Tensor const& labels, std::int64_t classes);

}  // namespace redco::nn::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/detail/count_labels.inl.hpp>
#endif
