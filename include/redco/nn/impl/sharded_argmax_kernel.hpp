#pragma once

#include <redco/nn/kernel/sharded_argmax.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <limits>

namespace redco::kernel {

REDCO_INLINE at::Tensor sharded_argmax(at::Tensor const& logits, std::int64_t vocabulary, std::int64_t first,
                                       group& ranks) {
  at::NoGradGuard const no_grad;
  auto const valid = std::clamp<std::int64_t>(vocabulary - first, 0, logits.size(1));
  auto const none = std::numeric_limits<std::int64_t>::max();
  if (valid == 0) {
    auto const top = at::full({logits.size(0)}, -std::numeric_limits<double>::infinity(), logits.options());
    ranks.all_reduce(top, reduce_op::max);
    auto const entry = at::full({logits.size(0)}, none, logits.options().dtype(at::kLong));
    ranks.all_reduce(entry, reduce_op::min);
    return entry;
  }
  auto const [value, index] = logits.narrow(1, 0, valid).max(1);
  auto const top = ranks.all_reduced(value, reduce_op::max);
  auto const here = value.eq(top).logical_or(value.isnan());  // a NaN is the largest, as in ATen
  auto const entry = at::where(here, index + first, at::full({}, none, index.options()));
  ranks.all_reduce(entry, reduce_op::min);
  return entry;
}

}  // namespace redco::kernel
