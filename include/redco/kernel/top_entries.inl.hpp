#pragma once

#include <redco/kernel/top_entries.hpp>

#include <redco/kernel/cpu/top_entries.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/config.hpp>

#include <cstdint>

namespace redco::kernel::composed {

/// Finds the k largest logits of each row by sorting the logits of the whole vocabulary. Gathers
/// all logits first, by one all-gather of [N, rows] elements, where `rows` is the number of rows of
/// the shard of the vocabulary.
inline largest_logits top_entries(at::Tensor const& hidden, vocabulary_shard const& head, std::int64_t k,
                                  comm::group& ranks) {
  at::Tensor own = head.capped(at::linear(hidden, head.weight, head.bias)).to(at::kDouble);
  at::Tensor const logits = ranks.all_gather(own, 1).narrow(1, 0, head.vocabulary);
  auto const [values, entries] = at::sort(logits, true, 1, true);
  return {values.narrow(1, 0, k).contiguous(), entries.narrow(1, 0, k).contiguous(), logits.logsumexp(1)};
}

}  // namespace redco::kernel::composed

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
