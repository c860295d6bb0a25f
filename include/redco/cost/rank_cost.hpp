#pragma once

#include <redco/cost/memory_of.hpp>
#include <redco/cost/messages.hpp>
#include <redco/cost/operations.hpp>

namespace redco::cost {

/// The predicted cost of one rank in one step: bytes of memory, messages and memory traffic. The
/// operations are those of the whole replica, over all its shards.
struct rank_cost {
  redco::cost::memory memory;
  redco::cost::messages messages;
  redco::cost::operations operations;
  redco::cost::activity activity;

  friend constexpr bool operator==(rank_cost const&, rank_cost const&) = default;
};

}  // namespace redco::cost
