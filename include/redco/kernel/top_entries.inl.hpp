#pragma once

#include <redco/kernel/top_entries.hpp>

#include <redco/kernel/composed/top_entries.hpp>
#include <redco/kernel/cpu/top_entries.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/config.hpp>

namespace redco::kernel {

REDCO_INLINE largest_logits top_entries(at::Tensor const& hidden, vocabulary_shard const& head, std::int64_t k,
                                        comm::group& ranks) {
  at::NoGradGuard const no_grad;
  TORCH_INTERNAL_ASSERT(hidden.dim() == 2 && k >= 1 && k <= head.vocabulary);
  return detail::dispatch(
      hidden, [&] { return cpu::top_entries(hidden, head, k, ranks); },
      [&] { return composed::top_entries(hidden, head, k, ranks); });
}

}  // namespace redco::kernel
