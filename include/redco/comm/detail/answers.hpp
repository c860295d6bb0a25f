#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::comm::detail {

/// Which processes have shown that they live since a run failed: each that learns of the failure tells all others so, whatever its
/// rank still computes. Who does not is stopped or cut off, and nobody waits for it.
class answers {
 public:
  explicit answers(int processes = 0) : known_(static_cast<std::size_t>(processes)) {}

  /// This process knows that `run` failed. True the first time.
  bool fail(std::uint64_t run) {
    if (run <= failed_) return false;
    failed_ = run;
    since_ = std::chrono::steady_clock::now();
    return true;
  }

  /// `process` knows how `run` went.
  void answer(int process, std::uint64_t run) {
    std::uint64_t& known = known_[static_cast<std::size_t>(process)];
    known = std::max(known, run);
  }

  bool silent(int process) const {
    constexpr auto patience = std::chrono::seconds(4);
    return known_[static_cast<std::size_t>(process)] < failed_ && std::chrono::steady_clock::now() > since_ + patience;
  }

 private:
  std::vector<std::uint64_t> known_;  ///< the last run of each
  std::uint64_t failed_ = 0;
  std::chrono::steady_clock::time_point since_ = {};
};

}  // namespace redco::comm::detail
