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
  at::Tensor const sum = detail::dispatch(
      hidden, [&] { return cuda::cross_entropy(hidden, head, dense_labels, ranks, options); },
      [&] { return cpu::cross_entropy(hidden, head, dense_labels, ranks, options); },
      [&] { return composed::cross_entropy(hidden, head, dense_labels, options.ignored, ranks); });
  return {sum, count};
}

}  // namespace redco::kernel
