#pragma once

#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/composed/attention.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/sequence_part.hpp>

#include <cstdint>
#include <vector>

namespace redco::kernel::detail {

/// Returns the queries of `part` whose keys are all masked, bool [B, H, t]. `o` has the key mask
/// [B, T] of whole sequences. Values of padding tokens have no meaning.
inline at::Tensor blind_queries(attention_options const& o, shape::sequence_part const& part) {
  at::TensorOptions const integers = o.key_mask.options().dtype(at::kLong);
  std::vector<at::Tensor> runs;
  for (auto const& one : part.runs()) runs.push_back(at::arange(one.first, one.first + part.of_run(), integers));
  at::Tensor const position = at::cat(runs).clamp_max(part.all - 1);
  at::Tensor const end = o.causal ? position + 1 : at::full_like(position, part.all);
  at::Tensor low = o.window > 0 ? (position + 1 - o.window).clamp_min(0) : at::zeros_like(position);
  if (o.documents.defined()) low = at::maximum(low, position - o.documents.index_select(1, position));

  std::vector<std::int64_t> const sizes{o.key_mask.size(0), o.heads, position.size(0)};
  // Returns the number of keys in [from, to) that are marked true in `counted` [B, 1 or H, T].
  auto const count = [&](at::Tensor const& counted, at::Tensor const& from, at::Tensor const& to) {
    at::Tensor const before = at::constant_pad_nd(counted.cumsum(2), {1, 0}).expand({sizes[0], sizes[1], -1});
    return before.gather(2, to.expand(sizes)) - before.gather(2, from.expand(sizes));
  };
  at::Tensor const unmasked = o.key_mask.unsqueeze(1);
  low = low.dim() == 1 ? low : low.unsqueeze(1);
  if (!o.pattern.is_sparse()) return count(unmasked, low, end).eq(0);

  std::int64_t const block = o.pattern.block, local = o.pattern.local;
  at::Tensor const own = position.floor_divide(block);
  at::Tensor const first = o.pattern.sliding ? (own + 1 - local).clamp_min(0) : own.floor_divide(local) * local;
  at::Tensor const near = at::maximum(low, first * block);
  attention_options later = o;  // A query after all windows sees global blocks only.
  later.query0 = part.all + (local + 1) * block;
  at::Tensor const global = composed::pattern_mask(later, 1, part.all, integers).squeeze(2);
  return (count(unmasked, near, end) + count(unmasked.logical_and(global), low, near)).eq(0);
}

}  // namespace redco::kernel::detail
