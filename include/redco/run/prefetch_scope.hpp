#pragma once

#include <redco/comm/rank_context.hpp>
#include <redco/tensor/memory_counter.hpp>
#include <redco/diag/run_place.hpp>

#include <functional>
#include <optional>

namespace redco::run {

/// What a thread that collates for a rank runs first: it takes over the rank's place and memory counter.
inline std::function<void()> prefetch_scope(rank_context const& rank) {
  return [memory = rank.memory, number = rank.rank] {
    diag::run_place::here() = {number, -1, "collate"};
    thread_local std::optional<memory_counter::scope> counting;
    counting.emplace(memory);
  };
}

}  // namespace redco::run
