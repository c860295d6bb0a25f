#pragma once

#include <redco/kernel/cross_entropy.hpp>

#include <redco/kernel/composed/cross_entropy.hpp>
#include <redco/kernel/cpu/cross_entropy.hpp>
#include <redco/kernel/cuda/cross_entropy.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/tensor/device.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <string>

namespace redco::kernel::detail {

inline std::int64_t count_labels(at::Tensor const& labels, std::int64_t vocabulary, std::int64_t ignored) {
  auto const* const first = labels.const_data_ptr<std::int64_t>();
  std::int64_t count = 0;
  for (auto const* label = first; label != first + labels.numel(); ++label) {
    if (*label == ignored) continue;
    if (*label < 0 || *label >= vocabulary) {
      throw error(exit_code::data, "cross_entropy: label " + std::to_string(*label) + " at row " +
                                       std::to_string(label - first) + " is outside a vocabulary of " +
                                       std::to_string(vocabulary) + ": check the tokenizer and the model's config");
    }
    ++count;
  }
  return count;
}

inline void check_head(at::Tensor const& hidden, vocabulary_shard const& head, at::Tensor const& labels) {
  auto const type = hidden.scalar_type();
  bool const fits =
      hidden.dim() == 2 && head.weight.dim() == 2 && hidden.size(1) == head.weight.size(1) &&
      head.weight.scalar_type() == type && labels.scalar_type() == at::kLong && labels.dim() == 1 &&
      labels.size(0) == hidden.size(0) && (type == at::kFloat || type == at::kDouble || type == at::kBFloat16) &&
      (!head.bias.defined() ||
       (head.bias.dim() == 1 && head.bias.size(0) == head.weight.size(0) && head.bias.scalar_type() == type));
  if (fits) return;
  throw error(exit_code::internal,
              "cross_entropy: needs hidden [N, d], weight [columns, d] and bias [columns] of one type "
              "(f64, f32, bf16) and int64 labels [N]; got hidden " +
                  tensors::describe(hidden) + ", weight " + tensors::describe(head.weight) + ", labels " +
                  tensors::describe(labels));
}

}  // namespace redco::kernel::detail

namespace redco::kernel {

REDCO_INLINE vocabulary_loss cross_entropy(at::Tensor const& hidden, vocabulary_shard const& head,
                                           at::Tensor const& labels, comm::group& ranks,
                                           cross_entropy_options const& options) {
  detail::check_head(hidden, head, labels);
  std::int64_t const count =
      tensors::look_on_cpu(labels, [vocabulary = head.vocabulary, ignored = options.ignored](at::Tensor const& all) {
        return detail::count_labels(all, vocabulary, ignored);
      });
  at::Tensor const dense_labels = labels.to(hidden.device()).contiguous();
  at::Tensor const sum = detail::dispatch(
      hidden, [&] { return cuda::cross_entropy(hidden, head, dense_labels, ranks, options); },
      [&] { return cpu::cross_entropy(hidden, head, dense_labels, ranks, options); },
      [&] { return composed::cross_entropy(hidden, head, dense_labels, options.ignored, ranks); });
  return {sum, count};
}

}  // namespace redco::kernel
