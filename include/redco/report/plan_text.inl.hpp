#pragma once

#include <redco/report/plan_text.hpp>

#include <redco/report/detail/numbers.hpp>
#include <redco/report/detail/run_text.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace redco::report {

REDCO_INLINE std::string plan_text(shard::dynamic_plan const& plan) {
  using detail::padded;
  std::size_t name = 9, logical = 7, local = 7, split = 5;
  for (shard::entry const& e : plan.entries) {
    name = std::max(name, e.fact.name.size + detail::copies_text(e).size());
    logical = std::max(logical, detail::extents_text(e.fact.shape).size());
    local = std::max(local, detail::extents_text(e.local()).size());
    split = std::max(split, detail::split_text(e).size());
  }
  std::string text;
  auto const row = [&](std::string const& a, std::string const& b, std::string const& c, std::string const& d,
                       std::string_view e) {
    text += "  " + detail::padded(a, name) + "  " + detail::padded(b, logical) + "  " + detail::padded(c, local) +
            "  " + detail::padded(d, split) + "  " + std::string(e) + "\n";
  };
  row("parameter", "logical", "on rank", "split", "because");
  for (shard::entry const& e : plan.entries)
    row(std::string(e.fact.name.view()) + detail::copies_text(e), detail::extents_text(e.fact.shape),
        detail::extents_text(e.local()), detail::split_text(e), fact::sentence_of(e.fact.why));
  return text;
}

}  // namespace redco::report
