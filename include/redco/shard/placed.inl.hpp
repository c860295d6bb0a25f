#pragma once

#include <redco/shard/placed.hpp>

#include <redco/config.hpp>

namespace redco {

namespace detail {

REDCO_INLINE void expand(std::vector<placed_parameter> const& from, std::size_t level,
                         std::vector<placed_parameter>& to) {
  for (std::size_t i = 0; i < from.size();) {
    std::string_view const name = from[i].name;
    std::size_t const star = name.find('*');
    if (star == std::string_view::npos) {
      to.push_back(from[i++]);
      continue;
    }
    std::string const prefix{name.substr(0, star + 1)};
    std::vector<placed_parameter> run;
    while (i < from.size() && from[i].name.compare(0, prefix.size(), prefix) == 0) run.push_back(from[i++]);
    std::int64_t const times = run.front().plan.fact.blocks[static_cast<int>(level)];
    for (std::int64_t block = 0; block < times; ++block) {
      auto copy = run;
      for (placed_parameter& p : copy) p.name.replace(star, 1, std::to_string(block));
      expand(copy, level + 1, to);
    }
  }
}

}  // namespace detail
}  // namespace redco
