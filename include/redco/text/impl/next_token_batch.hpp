#pragma once

#include <redco/text/next_token_batch.hpp>

#include <redco/config.hpp>

#include <algorithm>

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

REDCO_INLINE at::Tensor prompt_ids(std::span<std::string const> texts) {
  std::size_t length = texts.empty() ? 0 : texts.front().size();
  for (std::string const& text : texts) length = std::min(length, text.size());
  at::Tensor const ids =
      at::empty({static_cast<std::int64_t>(texts.size()), static_cast<std::int64_t>(length)}, at::kLong);
  auto* id = ids.data_ptr<std::int64_t>();
  for (std::string const& text : texts)
    for (std::size_t t = 0; t < length; ++t) *id++ = static_cast<unsigned char>(text[t]);
  return ids;
}

REDCO_INLINE std::vector<std::string> texts_of(at::Tensor const& ids) {
  at::Tensor const dense = ids.contiguous();
  auto const* id = dense.const_data_ptr<std::int64_t>();
  std::vector<std::string> texts(static_cast<std::size_t>(dense.size(0)));
  for (std::string& text : texts)
    for (std::int64_t t = 0; t < dense.size(1); ++t) text += static_cast<char>(*id++);
  return texts;
}

}  // namespace redco
