#pragma once

#include <redco/diag/error.hpp>
#include <redco/diag/run_position.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace redco::comm::detail {

/// Returns the training step of the calling thread as part of a sentence: "in step 4, ". Returns an
/// empty text if the thread is in no step.
inline std::string step_text() {
  std::int64_t const step = diag::run_position::here().step;
  return step < 0 ? "" : "in step " + std::to_string(step + 1) + ", ";
}

class waiting_room;

}  // namespace redco::comm::detail

namespace redco::comm {

/// State that all ranks of a run (one call of world::run) share. It holds the first failure, which
/// ends every wait, and the set of ranks that have ended. Any thread may call any member.
class lifeline {
 public:
  /// Creates the state for a run of `ranks` ranks, of which `here` are on this host.
  lifeline(int ranks, int here)
      : ended_(static_cast<std::size_t>(ranks)),
        crowded_(here > static_cast<int>(std::thread::hardware_concurrency())) {}
  explicit lifeline(int ranks) : lifeline(ranks, ranks) {}

  /// Returns true if this host runs more ranks than it has cores. A waiting rank should then yield
  /// its core to its peers instead of spinning.
  bool crowded() const noexcept { return crowded_; }

  /// Marks every rank as running. Must be called before a run, while no rank runs. After a failure,
  /// a new object is needed instead.
  void begin() noexcept {
    for (std::atomic<bool>& one : ended_) one.store(false);
    any_ended_.store(false);
  }

  /// Records the failure of `rank` and wakes all waiting ranks, if no rank has failed before.
  /// Returns true if this failure is the first. If there is no memory for the message, records a
  /// message that was made before the run.
  bool fail(int rank, exit_code code, std::string_view message) noexcept;
  bool fail(int rank, error const& failure) noexcept;

  bool failed() const noexcept { return failed_.load(); }

  /// Returns the first failure of the run as an error whose text starts with the failed rank.
  /// Requires that failed() returns true.
  error cause() const;

  /// Records that `rank` has left the run, and wakes all waiting ranks. A rank that waits for a
  /// message of `rank`, now or later, then fails because it lost a peer.
  void end(int rank);

  bool ended(int rank) const noexcept { return any_ended_.load() && ended_[static_cast<std::size_t>(rank)].load(); }

  /// Returns true if a rank has failed or ended. A waiting rank must then check whether its peers
  /// can still arrive.
  bool troubled() const noexcept { return failed_.load() || any_ended_.load(); }

  /// A scope that records a long wait of a rank for other ranks, so that messages can name it. The
  /// `lifeline` must outlive the scope.
  class long_wait {
   public:
    /// Records that `rank` waits in the call `where`, for example "in all_reduce(sum) of Float [3],
    /// call 17 of group tp".
    long_wait(lifeline& line, int rank, std::string const& where);
    long_wait(long_wait const&) = delete;
    long_wait& operator=(long_wait const&) = delete;
    ~long_wait();

   private:
    lifeline& line_;
    std::uint64_t number_;
  };

  /// Returns a text about the longest current wait of a rank in this process, or an empty text if
  /// no rank waits long. Example: "rank 0 waits in step 4, in all_reduce(sum) of Float [3], call 17
  /// of group tp".
  std::string longest_wait() const;

  /// Registers `room`, so that fail() and end() wake the threads that wait in it.
  void attach(std::shared_ptr<detail::waiting_room> room);

 private:
  bool fail(error const& named) noexcept;
  void wake();

  std::vector<std::atomic<bool>> ended_;
  bool crowded_;
  std::atomic<bool> any_ended_{false};
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  std::optional<error> cause_;
  error const exhausted_{exit_code::internal, "a rank has failed, and there was no memory for its message"};
  /// Texts of the current long waits, by their number; the oldest has the lowest number.
  std::map<std::uint64_t, std::string> waits_;
  std::uint64_t waits_begun_ = 0;
  std::vector<std::shared_ptr<detail::waiting_room>> rooms_;
};

}  // namespace redco::comm

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/lifeline.inl.hpp>
#endif
