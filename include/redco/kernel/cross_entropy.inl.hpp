#pragma once

#include <redco/kernel/cross_entropy.hpp>

#include <redco/kernel/composed/cross_entropy.hpp>
#include <redco/kernel/cpu/cross_entropy.hpp>
#include <redco/kernel/cuda/cross_entropy.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/kernel/detail/vocabulary_checks.hpp>
#include <redco/tensor/device.hpp>
#include <redco/config.hpp>

#include <cstdint>

namespace redco::kernel::detail {

/// Returns the targets of labels for `options`. Class weights are converted to the type of sums, on
/// the device of `hidden`.
inline label_targets targets_of(at::Tensor const& hidden, std::int64_t vocabulary,
                                cross_entropy_options const& options) {
  auto const entries = static_cast<double>(vocabulary);
  label_targets made{options.ignored, 1 - options.smoothing, options.smoothing / entries, {}, entries};
  if (!options.weights.defined()) return made;
  made.total =
      tensors::look_on_cpu(options.weights, [](at::Tensor const& all) { return all.sum(at::kDouble).item<double>(); });
  made.weights = options.weights.to(hidden.device(), composed::sum_type(hidden.scalar_type())).contiguous();
  return made;
}

}  // namespace redco::kernel::detail

namespace redco::kernel {

REDCO_INLINE vocabulary_loss cross_entropy(at::Tensor const& hidden, vocabulary_shard const& head,
                                           at::Tensor const& labels, comm::group& ranks,
                                           cross_entropy_options const& options) {
  detail::check_head("cross_entropy", hidden, head, labels);
  std::int64_t const count =
      tensors::look_on_cpu(labels, [vocabulary = head.vocabulary, ignored = options.ignored](at::Tensor const& all) {
        return detail::count_labels("cross_entropy", all, vocabulary, ignored);
      });
  at::Tensor const dense_labels = labels.to(hidden.device()).contiguous();
  label_targets const targets = detail::targets_of(hidden, head.vocabulary, options);
  at::Tensor const sum = detail::dispatch(
      hidden, [&] { return cuda::cross_entropy(hidden, head, dense_labels, ranks, targets, options.chunk_rows); },
      [&] { return cpu::cross_entropy(hidden, head, dense_labels, ranks, targets, options.chunk_rows); },
      [&] { return composed::cross_entropy(hidden, head, dense_labels, targets, ranks); });
  return {sum, count};
}

}  // namespace redco::kernel
