#pragma once

#include <redco/comm/detail/waiting_room.hpp>

#include <redco/diag/error.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace redco {

/// What the ranks of a run share besides their groups: the first failure, which ends every wait, and who has ended.
/// Any thread may call any member.
class lifeline {
 public:
  explicit lifeline(int ranks) : ended_(static_cast<std::size_t>(ranks)) {}

  int ranks() const noexcept { return static_cast<int>(ended_.size()); }

  /// Records that `rank` failed, if it is the first to, and wakes all who wait. True for the first.
  bool fail(int rank, exit_code code, std::string const& message) { return fail(error(code, rank, message)); }
  bool fail(int rank, error const& failure) {
    return failure.names_rank() ? fail(failure) : fail(rank, failure.code(), failure.what());
  }

  bool failed() const noexcept { return failed_.load(); }

  /// The first failure as an error whose text starts with its rank. Only after failed().
  error cause() const {
    std::lock_guard const lock(mutex_);
    return cause_.value();
  }

  /// Records that `rank` takes part no more; who waits for it then, or later, has lost a peer.
  void end(int rank) {
    ended_[static_cast<std::size_t>(rank)].store(true);
    any_ended_.store(true);
    wake();
  }

  bool ended(int rank) const noexcept { return any_ended_.load() && ended_[static_cast<std::size_t>(rank)].load(); }

  /// True when a waiting rank has to look whether its wait is in vain.
  bool troubled() const noexcept { return failed_.load() || any_ended_.load(); }

  /// Lets fail() and end() wake those who wait in `room`.
  void attach(std::shared_ptr<detail::waiting_room> room) {
    std::lock_guard const lock(mutex_);
    rooms_.push_back(std::move(room));
  }

 private:
  bool fail(error const& named) {
    {
      std::lock_guard const lock(mutex_);
      if (failed_.load()) return false;
      cause_ = named;
      failed_.store(true);
    }
    wake();
    return true;
  }

  void wake() {
    std::lock_guard const lock(mutex_);
    for (auto const& room : rooms_) room->wake();
  }

  std::vector<std::atomic<bool>> ended_;
  std::atomic<bool> any_ended_{false};
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  std::optional<error> cause_;
  std::vector<std::shared_ptr<detail::waiting_room>> rooms_;
};

}  // namespace redco
