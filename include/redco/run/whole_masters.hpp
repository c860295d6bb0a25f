#pragma once

#include <redco/run/network_state.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/rank_context.hpp>

namespace redco::run {

/// A scope in which each rank has all values and master parameters of a network that it holds, so
/// that functions can read or set the masters. At its end, the values become those of the masters,
/// and the rank keeps its share of both. Does nothing if the ranks keep no shares of masters. All
/// ranks must make it together.
class whole_masters {
 public:
  whole_masters(network_state const& state, rank_context& rank)
      : store_(state.store), joins_(store_.has_cut_masters()) {
    if (!joins_) return;
    store_.join_masters();
    comm::collective_label const label("master parameters");
    state.gather_shares(rank, [&](auto begin, auto count) { return store_.masters_at(begin, count); });
  }
  whole_masters(whole_masters const&) = delete;
  whole_masters& operator=(whole_masters const&) = delete;
  ~whole_masters() {
    if (joins_) store_.cut_masters();
  }

 private:
  nn::parameter_store const& store_;
  bool joins_;
};

}  // namespace redco::run
