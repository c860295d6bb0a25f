#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::detail {

/// How many of the int64 labels [examples, ...] count: all but -100. Errors: exit code 65 with the first label outside
/// 0 ... classes - 1 and its example, and for labels that are no int64.
double count_labels(at::Tensor const& labels, std::int64_t classes);

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/nn/detail/count_labels.inl.hpp>
#endif
