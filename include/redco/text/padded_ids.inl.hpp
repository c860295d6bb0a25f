#pragma once

#include <redco/text/padded_ids.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <iterator>

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

}  // namespace redco::text::detail

namespace redco::text {

REDCO_INLINE padded_ids padded_in_front(std::span<std::vector<std::int64_t> const> rows, std::int64_t padding) {
  return detail::padded(rows, padding, true);
}

REDCO_INLINE padded_ids padded_behind(std::span<std::vector<std::int64_t> const> rows, std::int64_t padding) {
  return detail::padded(rows, padding, false);
}

}  // namespace redco::text
