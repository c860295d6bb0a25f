#pragma once

#include <redco/shard/plan.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace redco::shard {

/// A parameter of the running model: the plan's entry under its full name with the block's index
/// ("h.3.attn.q.weight").
struct placed_parameter {
  std::string name;
  entry plan;
};

namespace detail {

void expand(std::vector<placed_parameter> const& from, std::size_t level, std::vector<placed_parameter>& to);

}  // namespace detail

/// Returns the plan's entries with all repeats expanded, block after block, in the order in which
/// layers state them.
template <class Entries>
std::vector<placed_parameter> placed_parameters(plan<Entries> const& p) {
  std::vector<placed_parameter> named, result;
  for (entry const& e : p.entries) named.push_back({std::string(e.fact.name.view()), e});
  detail::expand(named, 0, result);
  return result;
}

}  // namespace redco::shard

#ifndef REDCO_COMPILED
#include <redco/shard/placed.inl.hpp>
#endif
