#pragma once

#include <redco/shard/plan.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace redco::shard {

/// A parameter of one block: the entry of the plan, under the full name with the index of the block
/// ("h.3.attn.q.weight") instead of "*".
struct placed_parameter {
  std::string name;
  entry plan;
};

}  // namespace redco::shard

namespace redco::shard::detail {

void expand(std::vector<placed_parameter> const& from, std::size_t level, std::vector<placed_parameter>& to);

}  // namespace redco::shard::detail

namespace redco::shard {

/// Returns the parameters of a plan with one element per repeated block, block after block. Within
/// a block, they are in the order in which layers declare them.
template <class Entries>
std::vector<placed_parameter> placed_parameters(plan<Entries> const& p) {
  std::vector<placed_parameter> named, result;
  for (entry const& e : p.entries) named.push_back({std::string(e.fact.name.view()), e});
  detail::expand(named, 0, result);
  return result;
}

}  // namespace redco::shard

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/shard/placed.inl.hpp>
#endif
