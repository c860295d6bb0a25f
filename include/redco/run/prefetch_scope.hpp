#pragma once

#include <redco/comm/rank_context.hpp>
#include <redco/tensor/memory_counter.hpp>
#include <redco/diag/run_place.hpp>

#include <functional>
#include <optional>

namespace redco::run {

/// Returns a function that a rank's collating thread calls first. It makes error messages name the
/// rank, and counts the thread's memory as memory of the rank.
inline std::function<void()> prefetch_scope(rank_context const& rank) {
  return [memory = rank.memory, number = rank.rank] {
    diag::run_place::here() = {number, -1, "collate"};
    thread_local std::optional<tensors::memory_counter::scope> counting;
    counting.emplace(memory);
  };
}

}  // namespace redco::run
