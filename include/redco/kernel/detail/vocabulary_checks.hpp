#pragma once

#include <redco/kernel/vocabulary_shard.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>

namespace redco::kernel::detail {

/// Returns the number of labels that are not ignored. Throws `error` with exit code 65 for another
/// label outside the vocabulary. The message begins with the name `function`.
inline std::int64_t count_labels(char const* function, at::Tensor const& labels, std::int64_t vocabulary,
                                 std::int64_t ignored) {
  auto const* const first = labels.const_data_ptr<std::int64_t>();
  std::int64_t count = 0;
  for (auto const* label = first; label != first + labels.numel(); ++label) {
    if (*label == ignored) continue;
    if (*label < 0 || *label >= vocabulary) {
      throw error(exit_code::data, std::string(function) + ": label " + std::to_string(*label) + " at row " +
                                       std::to_string(label - first) + " is outside a vocabulary of " +
                                       std::to_string(vocabulary) + ": check the tokenizer and the model's config");
    }
    ++count;
  }
  return count;
}

/// Throws `error` with exit code 70 if the shapes or dtypes of a head, its input and its labels do
/// not fit. The message begins with the name `function`.
inline void check_head(char const* function, at::Tensor const& hidden, vocabulary_shard const& head,
                       at::Tensor const& labels) {
  auto const type = hidden.scalar_type();
  bool const fits =
      hidden.dim() == 2 && head.weight.dim() == 2 && hidden.size(1) == head.weight.size(1) &&
      head.weight.scalar_type() == type && labels.scalar_type() == at::kLong && labels.dim() == 1 &&
      labels.size(0) == hidden.size(0) && (type == at::kFloat || type == at::kDouble || type == at::kBFloat16) &&
      (!head.bias.defined() ||
       (head.bias.dim() == 1 && head.bias.size(0) == head.weight.size(0) && head.bias.scalar_type() == type));
  if (fits) return;
  throw error(exit_code::internal, std::string(function) +
                                       ": needs hidden [N, d], weight [columns, d] and bias [columns] of one type "
                                       "(f64, f32, bf16) and int64 labels [N]; got hidden " +
                                       tensors::describe(hidden) + ", weight " + tensors::describe(head.weight) +
                                       ", labels " + tensors::describe(labels));
}

}  // namespace redco::kernel::detail
