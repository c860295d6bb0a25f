#pragma once

#include <redco/kernel/cross_entropy.hpp>

#include <redco/kernel/cpu/cross_entropy.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace redco::kernel {

namespace detail {

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
      hidden.is_cpu() && hidden.dim() == 2 && head.weight.dim() == 2 && hidden.size(1) == head.weight.size(1) &&
      head.weight.scalar_type() == type && labels.scalar_type() == at::kLong && labels.dim() == 1 &&
      labels.size(0) == hidden.size(0) && (type == at::kFloat || type == at::kDouble || type == at::kBFloat16) &&
      (!head.bias.defined() ||
       (head.bias.dim() == 1 && head.bias.size(0) == head.weight.size(0) && head.bias.scalar_type() == type));
  if (fits) return;
  throw error(exit_code::internal,
              "cross_entropy: needs hidden [N, d], weight [columns, d] and bias [columns] of one type "
              "(f64, f32, bf16) on the CPU and int64 labels [N]; got hidden " +
                  redco::detail::describe(hidden) + ", weight " + redco::detail::describe(head.weight) + ", labels " +
                  redco::detail::describe(labels));
}

}  // namespace detail

REDCO_INLINE vocabulary_loss cross_entropy(at::Tensor const& hidden, vocabulary_shard const& head,
                                           at::Tensor const& labels, group& ranks,
                                           cross_entropy_options const& options) {
  detail::check_head(hidden, head, labels);
  auto const wants = [](at::Tensor const& x) { return at::GradMode::is_enabled() && x.defined() && x.requires_grad(); };
  auto const dense_labels = labels.contiguous();
  auto const count = detail::count_labels(dense_labels, head.vocabulary, options.ignored);
  auto const state = c10::make_intrusive<detail::cross_entropy_state>();
  state->vocabulary = head.vocabulary, state->first = head.first;
  state->ignored = options.ignored, state->chunk_rows = options.chunk_rows;
  state->ranks = &ranks;
  state->wants = {wants(hidden), wants(head.weight), wants(head.bias)};
  auto const bias = head.bias.defined() ? std::optional(head.bias) : std::nullopt;
  return {
      detail::cross_entropy_function::apply(hidden.contiguous(), head.weight.contiguous(), bias, dense_labels, state),
      count};
}

}  // namespace redco::kernel
