#pragma once

#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/linear.hpp>
#include <redco/kernel/cpu/top_rows.hpp>
#include <redco/kernel/top_entries.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace redco::kernel::cpu {

/// Number of vocabulary columns whose logits are in memory at once.
inline constexpr std::int64_t head_columns = 4096;

template <class T>
void take_logits(std::vector<top_row>& rows, at::Tensor const& logits, std::int64_t first) {
  std::int64_t const n = logits.size(1);
  tensors::parallel(logits.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i)
      with_lanes<T>(top_row_task<T>{rows[static_cast<std::size_t>(i)], logits.const_data_ptr<T>() + i * n, n, first});
  });
}

inline largest_logits top_entries(at::Tensor const& hidden, vocabulary_shard const& head, std::int64_t k,
                                  comm::group& ranks) {
  std::int64_t const n = hidden.size(0), width = 2 * k + 2;
  // Each row of `best` holds this rank's k largest values, their k entries, the maximum, and the
  // sum of exponentials relative to the maximum.
  at::Tensor const best = at::full({n, width}, -std::numeric_limits<double>::infinity(), at::kDouble);
  auto* const at_best = best.mutable_data_ptr<double>();
  std::vector<top_row> rows;
  for (std::int64_t i = 0; i < n; ++i) {
    double* const row = at_best + i * width;
    // larger than every entry: no value yet
    std::fill_n(row + k, k, static_cast<double>(head.vocabulary));
    rows.push_back({row, row + k, k});
  }
  for (std::int64_t at = 0; at < head.valid(); at += head_columns) {
    std::int64_t const columns = std::min(head_columns, head.valid() - at);
    at::Tensor const logits = cpu::linear(hidden, head.weight.narrow(0, at, columns),
                                          head.bias.defined() ? head.bias.narrow(0, at, columns) : head.bias);
    switch (logits.scalar_type()) {
      case at::kDouble: take_logits<double>(rows, logits, head.first + at); break;
      case at::kFloat: take_logits<float>(rows, logits, head.first + at); break;
      default: take_logits<at::BFloat16>(rows, logits.to(at::kBFloat16), head.first + at);
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    at_best[i * width + 2 * k] = rows[static_cast<std::size_t>(i)].most;
    at_best[i * width + 2 * k + 1] = rows[static_cast<std::size_t>(i)].sum;
  }
  at::Tensor const all = ranks.all_gather(best.unsqueeze(0), 0);  // shape [ranks, n, width]
  largest_logits const result{at::empty({n, k}, at::kDouble), at::empty({n, k}, at::kLong),
                              at::empty({n}, at::kDouble)};
  std::vector<double> entries(static_cast<std::size_t>(k));
  for (std::int64_t i = 0; i < n; ++i) {
    top_row row{result.logits.mutable_data_ptr<double>() + i * k, entries.data(), k};
    for (std::int64_t rank = 0; rank < all.size(0); ++rank) {
      double const* const from = all.const_data_ptr<double>() + (rank * n + i) * width;
      for (std::int64_t j = 0; j < k; ++j)
        if (from[k + j] < static_cast<double>(head.vocabulary)) row.insert(from[j], from[k + j]);
      row.add_sum(from[2 * k], from[2 * k + 1]);
    }
    for (std::int64_t j = 0; j < k; ++j)
      result.entries.mutable_data_ptr<std::int64_t>()[i * k + j] =
          static_cast<std::int64_t>(entries[static_cast<std::size_t>(j)]);
    result.log_sum.mutable_data_ptr<double>()[i] = row.log_sum();
  }
  return result;
}

}  // namespace redco::kernel::cpu
