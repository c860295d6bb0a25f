#pragma once

#include <redco/text/batches.hpp>

#include <redco/tensor/device.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

namespace redco::text::detail {

inline padded_ids padded(std::span<std::vector<std::int64_t> const> rows, std::int64_t padding, bool in_front) {
  std::int64_t longest = 0;
  for (auto const& row : rows) longest = std::max(longest, std::ssize(row));
  padded_ids all{at::full({std::ssize(rows), longest}, padding, at::kLong),
                 at::zeros({std::ssize(rows), longest}, at::kBool)};
  for (std::int64_t i = 0; i < std::ssize(rows); ++i) {
    auto const& row = rows[static_cast<std::size_t>(i)];
    std::int64_t const begin = i * longest + (in_front ? longest - std::ssize(row) : 0);
    std::copy(row.begin(), row.end(), all.ids.data_ptr<std::int64_t>() + begin);
    std::fill_n(all.mask.data_ptr<bool>() + begin, std::ssize(row), true);
  }
  return all;
}

/// Throws `error` with exit code 65 if a text has more than `context + 1` ids.
inline void check_fits(tokenizer::marked_ids const& text, std::int64_t context) {
  if (std::ssize(text.ids) > context + 1)
    throw error(exit_code::data, "a text of " + std::to_string(text.ids.size()) +
                                     " tokens does not fit into a row of " + std::to_string(context + 1) +
                                     ": cut it, or give longer rows");
}

REDCO_INLINE at::Tensor positions_of(at::Tensor const& mask) {
  if (mask.all().item<bool>()) return {};
  return at::where(mask, at::arange(mask.size(1), at::kLong), at::Scalar(-1));
}

/// Appends a text to a row.
inline void append(packed_row& row, tokenizer::marked_ids const& text) {
  row.starts.push_back(std::ssize(row.ids.ids));
  row.ids.ids.insert(row.ids.ids.end(), text.ids.begin(), text.ids.end());
  row.ids.trained.insert(row.ids.trained.end(), text.trained.begin(), text.trained.end());
}

}  // namespace redco::text::detail

namespace redco::text {

REDCO_INLINE padded_ids left_padded(std::span<std::vector<std::int64_t> const> rows, std::int64_t padding) {
  return detail::padded(rows, padding, true);
}

REDCO_INLINE padded_ids right_padded(std::span<std::vector<std::int64_t> const> rows, std::int64_t padding) {
  return detail::padded(rows, padding, false);
}

}  // namespace redco::text

namespace redco {

REDCO_INLINE token_batch token_batch_of(std::span<tokenizer::marked_ids const> texts, std::int64_t padding) {
  std::vector<std::vector<std::int64_t>> rows;
  for (auto const& text : texts) rows.push_back(text.ids);
  token_batch batch = token_batch_of(rows, padding);
  std::int64_t const length = batch.labels.size(1);
  auto* const labels = batch.labels.data_ptr<std::int64_t>();
  for (std::size_t row = 0; row < texts.size(); ++row)
    for (std::size_t t = 1; t < texts[row].ids.size(); ++t)
      if (!texts[row].trained[t])
        labels[static_cast<std::int64_t>(row) * length + static_cast<std::int64_t>(t) - 1] = -100;
  return batch;
}

REDCO_INLINE token_batch token_batch_of(std::span<text::packed_row const> rows, std::int64_t padding) {
  std::vector<tokenizer::marked_ids> texts;
  for (text::packed_row const& row : rows) texts.push_back(row.ids);
  token_batch batch = token_batch_of(texts, padding);
  if (std::ranges::all_of(rows, [](text::packed_row const& row) { return row.starts.size() == 1; })) return batch;
  std::int64_t const length = batch.labels.size(1);
  batch.documents = at::full_like(batch.labels, -1);
  auto *labels = batch.labels.data_ptr<std::int64_t>(), *positions = batch.documents.data_ptr<std::int64_t>();
  for (text::packed_row const& row : rows) {
    for (std::size_t i = 0; i < row.starts.size(); ++i) {
      std::int64_t const begin = row.starts[i],
                         end = i + 1 < row.starts.size() ? row.starts[i + 1] : std::ssize(row.ids.ids);
      if (begin > 0 && begin <= length) labels[begin - 1] = -100;
      for (std::int64_t t = begin; t < end - 1; ++t) positions[t] = t - begin;
    }
    labels += length;
    positions += length;
  }
  return batch;
}

REDCO_INLINE token_batch next_token_batch(std::span<std::string const> texts, std::int64_t context) {
  auto const rows = static_cast<std::int64_t>(texts.size());
  std::int64_t length = 1;
  for (std::string const& text : texts) length = std::max(length, std::ssize(text) - 1);
  length = std::min(length, context);
  token_batch batch{at::zeros({rows, length}, at::kLong), at::full({rows, length}, -100, at::kLong)};
  auto* ids = batch.input_ids.data_ptr<std::int64_t>();
  auto* labels = batch.labels.data_ptr<std::int64_t>();
  for (std::string const& text : texts) {
    std::int64_t const n = std::min(std::ssize(text) - 1, length);
    for (std::int64_t t = 0; t < n; ++t) {
      ids[t] = static_cast<unsigned char>(text[static_cast<std::size_t>(t)]);
      labels[t] = static_cast<unsigned char>(text[static_cast<std::size_t>(t) + 1]);
    }
    ids += length;
    labels += length;
  }
  batch.documents = text::detail::positions_of(batch.labels.ge(0));
  return batch;
}

}  // namespace redco

namespace redco::text {

REDCO_INLINE std::vector<std::string> texts_of(at::Tensor const& ids, padded_ids const& prompts) {
  at::Tensor const dense = tensors::to_cpu(ids), padding = tensors::to_cpu(prompts.mask.logical_not().sum(1));
  auto const* const id = dense.const_data_ptr<std::int64_t>();
  auto const* const skipped = padding.const_data_ptr<std::int64_t>();
  std::vector<std::string> texts(static_cast<std::size_t>(dense.size(0)));
  for (std::int64_t row = 0; row < dense.size(0); ++row)
    for (std::int64_t t = skipped[row]; t < dense.size(1); ++t)
      texts[static_cast<std::size_t>(row)] += static_cast<char>(id[row * dense.size(1) + t]);
  return texts;
}

REDCO_INLINE std::vector<packed_row> packed(std::span<tokenizer::marked_ids const> texts, std::int64_t context) {
  constexpr std::ptrdiff_t open = 64;
  std::vector<packed_row> rows;
  for (tokenizer::marked_ids const& text : texts) {
    std::int64_t const length = std::ssize(text.ids);
    if (context > 0) detail::check_fits(text, context);
    auto const first = rows.end() - std::min(open, std::ssize(rows));
    auto const row = std::find_if(
        first, rows.end(), [&](packed_row const& one) { return std::ssize(one.ids.ids) + length <= context + 1; });
    if (row == rows.end()) {
      rows.push_back({text});
      continue;
    }
    detail::append(*row, text);
  }
  return rows;
}

REDCO_INLINE std::vector<packed_row> packed_evenly(std::span<tokenizer::marked_ids const> texts, std::int64_t context) {
  std::vector<std::size_t> longest_first(texts.size());
  std::iota(longest_first.begin(), longest_first.end(), std::size_t{0});
  std::ranges::stable_sort(longest_first, std::ranges::greater{}, [&](std::size_t i) { return texts[i].ids.size(); });
  std::int64_t total = 0;
  for (tokenizer::marked_ids const& text : texts) {
    detail::check_fits(text, context);
    total += std::ssize(text.ids);
  }
  // The next text goes into the shortest row. One row more is tried until all rows have room.
  for (std::int64_t count = (total + context) / (context + 1);; ++count) {
    std::vector<packed_row> rows(static_cast<std::size_t>(count), packed_row{{}, {}, {}});
    auto const length = [](packed_row const& row) { return std::ssize(row.ids.ids); };
    for (std::size_t const i : longest_first) {
      packed_row& row = *std::ranges::min_element(rows, {}, length);
      row.numbers.push_back(static_cast<std::int64_t>(i));
      detail::append(row, texts[i]);
    }
    if (std::ranges::all_of(rows, [&](packed_row const& row) { return length(row) <= context + 1; })) return rows;
  }
}

REDCO_INLINE at::Tensor text_numbers(std::span<packed_row const> rows) {
  std::int64_t length = 0;
  for (packed_row const& row : rows) length = std::max(length, std::ssize(row.ids.ids) - 1);
  at::Tensor const all = at::zeros({std::ssize(rows), length}, at::kLong);
  auto* to = all.mutable_data_ptr<std::int64_t>();
  for (packed_row const& row : rows) {
    for (std::size_t i = 0; i < row.starts.size(); ++i)
      std::fill(to + std::min(row.starts[i], length), to + length, row.numbers[i]);
    to += length;
  }
  return all;
}

REDCO_INLINE answer_examples fitted(std::vector<tokenizer::marked_ids> texts, std::int64_t context) {
  answer_examples result;
  auto const most = static_cast<std::size_t>(context) + 1;
  for (tokenizer::marked_ids& text : texts) {
    bool const cut = text.ids.size() > most;
    if (cut) {
      text.ids.resize(most);
      text.trained.resize(most);
    }
    // The first id has no id before it that predicts it.
    if (text.ids.empty() || std::find(text.trained.begin() + 1, text.trained.end(), true) == text.trained.end()) {
      ++result.left_out;
      continue;
    }
    result.shortened += cut ? 1 : 0;
    result.examples.push_back(std::move(text));
  }
  if (result.examples.empty())
    throw error(exit_code::data, "no answer is within the first " + std::to_string(most) +
                                     " tokens of its text: raise the context, or give shorter prompts");
  return result;
}

}  // namespace redco::text
