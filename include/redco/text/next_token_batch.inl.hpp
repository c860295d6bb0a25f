#pragma once

#include <redco/text/next_token_batch.hpp>

#include <redco/tensor/device.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace redco {

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
  return batch;
}

}  // namespace redco

namespace redco::text {

REDCO_INLINE padded_ids prompt_ids(std::span<std::string const> texts, std::int64_t most) {
  std::vector<std::vector<std::int64_t>> rows;
  for (std::string const& text : texts) {
    std::size_t const bytes = std::min(text.size(), static_cast<std::size_t>(most));
    auto& row = rows.emplace_back();
    for (char const c : std::string_view(text).substr(text.size() - bytes))
      row.push_back(static_cast<unsigned char>(c));
  }
  return padded_in_front(rows, 0);
}

REDCO_INLINE std::vector<std::string> texts_of(at::Tensor const& ids, padded_ids const& prompts) {
  at::Tensor const dense = tensors::on_host(ids), padding = tensors::on_host(prompts.mask.logical_not().sum(1));
  auto const* const id = dense.const_data_ptr<std::int64_t>();
  auto const* const skipped = padding.const_data_ptr<std::int64_t>();
  std::vector<std::string> texts(static_cast<std::size_t>(dense.size(0)));
  for (std::int64_t row = 0; row < dense.size(0); ++row)
    for (std::int64_t t = skipped[row]; t < dense.size(1); ++t)
      texts[static_cast<std::size_t>(row)] += static_cast<char>(id[row * dense.size(1) + t]);
  return texts;
}

}  // namespace redco::text
