#pragma once

#include <redco/text/decoded_rows.hpp>

#include <redco/tensor/device.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <span>

namespace redco {

REDCO_INLINE std::vector<std::string> decoded_rows(any_tokenizer const& tokenizer, at::Tensor const& ids,
                                                   std::int64_t first) {
  at::Tensor const dense = on_host(ids.narrow(1, first, ids.size(1) - first));
  std::span const all(dense.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(dense.numel()));
  auto const columns = static_cast<std::size_t>(dense.size(1));
  std::vector<std::string> texts;
  for (std::size_t row = 0; row < static_cast<std::size_t>(dense.size(0)); ++row)
    texts.push_back(tokenizer.decode(all.subspan(row * columns, columns)));
  return texts;
}

}  // namespace redco
