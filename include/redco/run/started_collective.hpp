#pragma once

#include <redco/comm/group.hpp>
#include <redco/comm/lane.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/shape/axis.hpp>

#include <cstdint>
#include <functional>
#include <utility>

namespace redco::run {

/// Collectives that a rank has started, in a lane (a thread that runs collectives) or at once.
struct started_collective {
  comm::lane* lane = nullptr;  ///< null if the collectives are complete
  std::uint64_t number = 0;    ///< number of the request to the lane

  /// Waits until the collectives are complete. Rethrows errors of the lane.
  void wait() const {
    if (lane != nullptr) lane->wait(number);
  }
};

/// Starts `calls`, which calls collectives of the ranks over the mesh axes `over`. If `overlaps` is
/// true, they run in a lane after earlier ones, and until wait() no other code may touch the memory
/// that they use. Otherwise they are complete when the function returns.
inline started_collective start(rank_context& rank, shape::axes over, bool overlaps,
                                std::function<void(comm::group&)> calls) {
  if (!overlaps) {
    calls(rank.group(over));
    return {};
  }
  comm::lane& lane = rank.lane(over);
  return {&lane, lane.request(std::move(calls))};
}

}  // namespace redco::run
