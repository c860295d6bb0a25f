#pragma once

#include <redco/diag/error.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace redco::comm {

namespace detail {

class waiting_room;

}  // namespace detail

/// What the ranks of a run share besides their groups: the first failure, which ends every wait, and who has ended.
/// Any thread may call any member.
class lifeline {
 public:
  /// `here` of the ranks are on this host.
  lifeline(int ranks, int here)
      : ended_(static_cast<std::size_t>(ranks)),
        crowded_(here > static_cast<int>(std::thread::hardware_concurrency())) {}
  explicit lifeline(int ranks) : lifeline(ranks, ranks) {}

  /// This host has more ranks than cores: who waits should not keep one from its peers.
  bool crowded() const noexcept { return crowded_; }

  /// Before a run, when no rank runs: nobody has ended. Behind a failure nothing begins again.
  void begin() noexcept {
    for (std::atomic<bool>& one : ended_) one.store(false);
    any_ended_.store(false);
  }

  /// Records that `rank` failed, if it is the first to, and wakes all who wait. True for the first.
  bool fail(int rank, exit_code code, std::string const& message);
  bool fail(int rank, error const& failure);

  bool failed() const noexcept { return failed_.load(); }

  /// The first failure as an error whose text starts with its rank. Only after failed().
  error cause() const;

  /// Records that `rank` takes part no more; who waits for it then, or later, has lost a peer.
  void end(int rank);

  bool ended(int rank) const noexcept { return any_ended_.load() && ended_[static_cast<std::size_t>(rank)].load(); }

  /// True when a waiting rank has to look whether its wait is in vain.
  bool troubled() const noexcept { return failed_.load() || any_ended_.load(); }

  /// Says while it lives what a rank of this process waits in for others, longer than a moment. The line outlives it.
  class long_wait {
   public:
    /// `where`: "in all_reduce(sum) of Float [3], call 17 of group tp"
    long_wait(lifeline& line, int rank, std::string const& where);
    long_wait(long_wait const&) = delete;
    long_wait& operator=(long_wait const&) = delete;
    ~long_wait();

   private:
    lifeline& line_;
    std::uint64_t number_;
  };

  /// "rank 0 waits in all_reduce(sum) of Float [3], call 17 of group tp", with its step where it is in one: the wait of this process
  /// that is the longest; empty where no rank waits.
  std::string longest_wait() const;

  /// Lets fail() and end() wake those who wait in `room`.
  void attach(std::shared_ptr<detail::waiting_room> room);

 private:
  bool fail(error const& named);
  void wake();

  std::vector<std::atomic<bool>> ended_;
  bool crowded_;
  std::atomic<bool> any_ended_{false};
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  std::optional<error> cause_;
  std::map<std::uint64_t, std::string> waits_;  ///< in the order in which they began
  std::uint64_t waits_begun_ = 0;
  std::vector<std::shared_ptr<detail::waiting_room>> rooms_;
};

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/lifeline.inl.hpp>
#endif
