#pragma once

#include <redco/text/token_windows.hpp>

#include <redco/text/padded_ids.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <iterator>

namespace redco {

REDCO_INLINE std::vector<std::vector<std::int64_t>> token_windows(std::span<std::vector<std::int64_t> const> texts,
                                                                  std::int64_t context) {
  std::vector<std::vector<std::int64_t>> windows;
  for (auto const& text : texts)
    for (std::int64_t begin = 0; begin + 1 < std::ssize(text); begin += context)
      windows.emplace_back(text.begin() + begin, text.begin() + std::min(begin + context + 1, std::ssize(text)));
  if (windows.empty()) throw error(exit_code::data, "no text has two tokens: give longer texts");
  return windows;
}

REDCO_INLINE token_batch token_batch_of(std::span<std::vector<std::int64_t> const> windows, std::int64_t padding) {
  text::padded_ids const all = text::padded_behind(windows, padding);
  std::int64_t const length = std::max<std::int64_t>(all.ids.size(1) - 1, 0);
  at::Tensor const next = all.ids.narrow(1, all.ids.size(1) - length, length);
  at::Tensor const known = all.mask.narrow(1, all.ids.size(1) - length, length);
  return {all.ids.narrow(1, 0, length).contiguous(), next.masked_fill(known.logical_not(), -100)};
}

}  // namespace redco
