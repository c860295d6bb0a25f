#pragma once

#include <redco/comm/gather_texts.hpp>

#include <redco/tensor/torch.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace redco::comm {

REDCO_INLINE std::vector<std::string> gather_texts(group& ranks, std::string const& text) {
  auto const length = static_cast<std::int64_t>(text.size());
  at::Tensor const lengths = ranks.all_gather(at::full({1}, length, at::kLong), 0);
  std::int64_t const longest = lengths.max().item<std::int64_t>();
  at::Tensor const padded = at::zeros({std::max<std::int64_t>(longest, 1)}, at::kByte);
  std::memcpy(padded.data_ptr(), text.data(), text.size());
  at::Tensor const all = ranks.all_gather(padded, 0);
  std::vector<std::string> texts;
  for (std::int64_t rank = 0; rank < ranks.size(); ++rank) {
    auto const* const first = static_cast<char const*>(all.data_ptr()) + rank * padded.numel();
    texts.emplace_back(first, static_cast<std::size_t>(lengths[rank].item<std::int64_t>()));
  }
  return texts;
}

}  // namespace redco::comm
