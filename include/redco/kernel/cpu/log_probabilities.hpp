#pragma once

#include <redco/kernel/cpu/computes.hpp>
#include <redco/kernel/cpu/head_chunks.hpp>
#include <redco/kernel/cpu/vocabulary_rows.hpp>
#include <redco/kernel/vocabulary_shard.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace redco::kernel::cpu {

/// Writes the log-probabilities of the labels [N], and the logarithm of each row's sum of
/// exponentials, [N]. Rows with an ignored label stay as they are. All tensors must be contiguous.
inline void log_probabilities(at::Tensor const& hidden, vocabulary_shard const& head, at::Tensor const& labels,
                              label_targets const& targets, std::int64_t chunk_rows, comm::group& ranks,
                              at::Tensor const& result, at::Tensor const& normaliser) {
  with_element(hidden.scalar_type(), [&]<class T>(T) {
    auto *const to = result.mutable_data_ptr<sum_of<T>>(), *const log_sums = normaliser.mutable_data_ptr<sum_of<T>>();
    head_chunks<T> const chunks(hidden, head, labels, targets, chunk_rows);
    chunks.each([&](auto const& chunk) {
      logit_chunk<T> const& c = chunk.rows;
      chunks.count_exponentials(chunk, ranks);
      for (std::int64_t r = 0; r < c.rows; ++r) {
        if (c.labels[r] == targets.ignored) continue;
        std::int64_t const row = chunks.index(chunk.begin + r);
        auto const log_sum = std::log(c.stats[r]);
        to[row] = c.stats[c.rows + r] - log_sum;
        log_sums[row] = c.top[r] + log_sum;
      }
    });
    chunks.send_rest(ranks);
  });
}

/// Computes the backward of log_probabilities from its `normaliser` and the gradient `g` [N] of its
/// result. Returns the gradient of `hidden`, undefined if it needs none. Adds the gradients of
/// weight and bias, which have the dtype of sums, unless these are undefined.
inline at::Tensor log_probabilities_backward(at::Tensor const& hidden, vocabulary_shard const& head,
                                             at::Tensor const& labels, label_targets const& targets,
                                             std::int64_t chunk_rows, at::Tensor const& normaliser, at::Tensor const& g,
                                             at::Tensor const& of_weight, at::Tensor const& of_bias) {
  at::Tensor of_hidden;
  with_element(hidden.scalar_type(), [&]<class T>(T) {
    using sum = sum_of<T>;
    auto const *const log_sums = normaliser.const_data_ptr<sum>(), *const factors = g.const_data_ptr<sum>();
    head_chunks<T> const chunks(hidden, head, labels, targets, chunk_rows);
    if (hidden.requires_grad()) of_hidden = chunks.empty_gradient();
    std::vector<sum> of_rows;
    chunks.each([&](auto const& chunk) {
      logit_chunk<T> c = chunk.rows;
      if (c.soft_cap > 0) over_rows<top_of_rows>(c);
      of_rows.resize(static_cast<std::size_t>(c.rows));
      std::fill_n(c.stats, c.rows, sum(1));
      for (std::int64_t r = 0; r < c.rows; ++r) {
        std::int64_t const row = chunks.index(chunk.begin + r);
        c.top[r] = log_sums[row];
        of_rows[static_cast<std::size_t>(r)] = -factors[row];
      }
      c.factors = of_rows.data();
      over_rows<gradient_of_rows>(c);
      if (of_hidden.defined()) chunks.write_gradient(of_hidden, chunk);
      if (of_weight.defined()) outer<T>(of_weight, chunk.logits, chunk.hidden, true);
      if (of_bias.defined()) of_bias.add_(chunk.logits.sum(at::IntArrayRef{0}, false, of_bias.scalar_type()));
    });
  });
  return of_hidden;
}

}  // namespace redco::kernel::cpu
