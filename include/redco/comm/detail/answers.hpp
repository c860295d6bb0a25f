#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::comm::detail {

/// A record of the processes that have responded since a run failed (a run is one call of
/// world::run). Each process that learns of the failure notifies all other processes at once, even
/// while its rank computes. A process that sends no such notice is stopped or disconnected, so
/// nobody waits for it.
class answers {
 public:
  explicit answers(int processes = 0) : known_(static_cast<std::size_t>(processes)) {}

  /// Records that this process knows of the failure of the run with number `run`. Returns true if
  /// the failure was not known before.
  bool fail(std::uint64_t run) {
    if (run <= failed_) return false;
    failed_ = run;
    since_ = std::chrono::steady_clock::now();
    return true;
  }

  /// Records that `process` knows how the run with number `run` ended.
  void answer(int process, std::uint64_t run) {
    std::uint64_t& known = known_[static_cast<std::size_t>(process)];
    known = std::max(known, run);
  }

  bool silent(int process) const {
    constexpr auto patience = std::chrono::seconds(4);
    return known_[static_cast<std::size_t>(process)] < failed_ && std::chrono::steady_clock::now() > since_ + patience;
  }

 private:
  /// For each process, the number of the last run whose outcome the process knows.
  std::vector<std::uint64_t> known_;
  std::uint64_t failed_ = 0;
  std::chrono::steady_clock::time_point since_ = {};
};

}  // namespace redco::comm::detail
