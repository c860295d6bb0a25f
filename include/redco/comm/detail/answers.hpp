#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::comm::detail {

/// A record of the processes that have shown that they live since a run failed. Each process that
/// learns of the failure notifies all others, whatever its rank still computes. A process without
/// such a notice is stopped or disconnected, and nobody waits for it.
class answers {
 public:
  explicit answers(int processes = 0) : known_(static_cast<std::size_t>(processes)) {}

  /// Records that this process knows of the failure of `run`. Returns true the first time.
  bool fail(std::uint64_t run) {
    if (run <= failed_) return false;
    failed_ = run;
    since_ = std::chrono::steady_clock::now();
    return true;
  }

  /// Records that `process` knows the outcome of `run`.
  void answer(int process, std::uint64_t run) {
    std::uint64_t& known = known_[static_cast<std::size_t>(process)];
    known = std::max(known, run);
  }

  bool silent(int process) const {
    constexpr auto patience = std::chrono::seconds(4);
    return known_[static_cast<std::size_t>(process)] < failed_ && std::chrono::steady_clock::now() > since_ + patience;
  }

 private:
  std::vector<std::uint64_t> known_;  ///< last run whose outcome each process knows
  std::uint64_t failed_ = 0;
  std::chrono::steady_clock::time_point since_ = {};
};

}  // namespace redco::comm::detail
