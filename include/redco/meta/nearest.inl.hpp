#pragma once

#include <redco/meta/nearest.hpp>

#include <redco/config.hpp>

#include <cstddef>
#include <vector>

namespace redco::meta {

REDCO_INLINE std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      auto const no_more_than = [&least = row[j]](std::size_t cost) { least = cost < least ? cost : least; };
      row[j] = above[j] + 1;
      no_more_than(row[j - 1] + 1);
      no_more_than(above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) no_more_than(before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace redco::meta
