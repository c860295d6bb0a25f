#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::detail {

/// Returns the number of labels that count: all int64 labels [examples, ...] except -100. Throws
/// `error` with exit code 65 and the first label outside 0 ... classes - 1 with its example, or if
/// the labels are not int64.
double count_labels(at::Tensor const& labels, std::int64_t classes);

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/nn/detail/count_labels.inl.hpp>
#endif
