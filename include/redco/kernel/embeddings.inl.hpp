#pragma once

#include <redco/kernel/embeddings.hpp>

#include <redco/kernel/composed/embeddings.hpp>
#include <redco/kernel/cpu/embeddings.hpp>
#include <redco/kernel/cuda/embeddings.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/kernel/parameter_uses.hpp>
#include <redco/tensor/device.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <string>

namespace redco::kernel::detail {

/// Throws `error` with exit code 65 unless all ids are in [0, vocabulary).
inline void check_ids(at::Tensor const& ids, std::int64_t vocabulary) {
  if (ids.numel() == 0) return;
  auto const [low, high] = at::aminmax(ids);
  if (low.item<std::int64_t>() < 0 || high.item<std::int64_t>() >= vocabulary)
    throw error(exit_code::data, "token ids from " + std::to_string(low.item<std::int64_t>()) + " to " +
                                     std::to_string(high.item<std::int64_t>()) + " in a vocabulary of " +
                                     std::to_string(vocabulary) + ": check the tokenizer and the model's config");
}

}  // namespace redco::kernel::detail

namespace redco::kernel {

REDCO_INLINE at::Tensor lookup(at::Tensor const& table, at::Tensor const& ids, std::int64_t first_row,
                               std::int64_t vocabulary, std::int64_t padding) {
  tensors::check_on_cpu(ids, [vocabulary](at::Tensor const& all) { detail::check_ids(all, vocabulary); });
  std::int64_t const rows = table.size(0);
  bool const foreign = rows < vocabulary;
  at::Tensor const shifted = foreign ? ids - first_row : ids;
  at::Tensor const local = foreign ? at::where((shifted < 0).logical_or(shifted >= rows), -1, shifted) : ids;
  std::int64_t const own_padding = padding - (foreign ? first_row : 0);
  std::int64_t const left_out = padding >= 0 && own_padding >= 0 && own_padding < rows ? own_padding : -1;
  at::Tensor const y = detail::dispatch(
      table, [&] { return cpu::lookup(table, local, foreign, left_out); },
      [&] { return composed::lookup(table, local, left_out); });
  return reported_lookup(y, table, local, left_out);
}

REDCO_INLINE at::Tensor rotate(at::Tensor const& x, rotation const& by, at::Tensor const& positions,
                               at::Tensor const& lengths) {
  if (by.angles.dims == 0) return x;
  // Within the context of the original training, frequencies do not depend on a text's length.
  bool const by_text =
      lengths.defined() && depends_on_length(by.angles.scaling) && by.first + x.size(1) > by.angles.scaling.context;
  at::Tensor const of_texts = by_text ? lengths : at::Tensor();
  TORCH_INTERNAL_ASSERT(x.is_floating_point() && x.dim() == 3 && x.stride(2) == 1);
  return detail::dispatch(
      x, [&] { return cuda::rotate(x, by, positions, of_texts); },
      [&] { return cpu::rotate(x, by, positions, of_texts); },
      [&] { return composed::rotate(x, by, positions, of_texts); });
}

}  // namespace redco::kernel
