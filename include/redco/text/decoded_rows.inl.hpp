#pragma once

#include <redco/text/decoded_rows.hpp>

#include <redco/tensor/device.hpp>
#include <redco/tokenizer/text_stream.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <span>

namespace redco::text {

REDCO_INLINE std::vector<std::string> decoded_rows(tokenizer::any_tokenizer const& tokenizer, at::Tensor const& ids,
                                                   std::int64_t first) {
  at::Tensor const dense = tensors::to_cpu(ids);
  std::span const all(dense.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(dense.numel()));
  auto const columns = static_cast<std::size_t>(dense.size(1));
  std::vector<std::string> texts;
  tokenizer::text_stream stream(tokenizer);
  for (std::size_t row = 0; row < static_cast<std::size_t>(dense.size(0)); ++row) {
    std::span const one = all.subspan(row * columns, columns);
    stream.skip(one.first(static_cast<std::size_t>(first)));
    std::string& text = texts.emplace_back();
    for (std::int64_t const id : one.subspan(static_cast<std::size_t>(first))) text += stream.put(id);
    text += stream.finish();
  }
  return texts;
}

}  // namespace redco::text
