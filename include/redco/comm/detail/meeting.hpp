#pragma once

#include <redco/comm/detail/operand.hpp>
#include <redco/comm/detail/waiting_room.hpp>
#include <redco/comm/lifeline.hpp>

#include <redco/diag/error.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace redco::comm::detail {

/// A synchronisation point for the threads of one group. In each collective, open() publishes a
/// rank's operand (operation, shape, dtype) and waits for all ranks. The ranks may then access each
/// other's memory, in stages that stage_done() separates, until close(). No rank leaves between
/// open() and close(), so nobody accesses the tensors of a rank that failed and left. Operands and
/// copies of small tensors exist twice, for even and odd calls, because a rank may be one call
/// ahead. A collective that uses only these copies needs no close().
class meeting {
 public:
  static constexpr std::size_t copy_bytes = 4096;

  meeting(std::string name, std::vector<int> members, std::shared_ptr<lifeline> line)
      : name_(std::move(name)),
        members_(std::move(members)),
        line_(std::move(line)),
        room_(std::make_shared<waiting_room>(line_->crowded())),
        seats_(std::make_unique<seat[]>(members_.size())) {
    line_->attach(room_);
  }

  std::size_t size() const noexcept { return members_.size(); }
  std::string const& name() const noexcept { return name_; }
  int member(std::size_t rank) const { return members_[rank]; }
  lifeline& line() noexcept { return *line_; }
  waiting_room& room() noexcept { return *room_; }

  /// Returns the number of collectives that rank `me` has begun.
  std::uint64_t calls(std::size_t me) const noexcept { return seats_[me].calls; }

  /// Returns the buffer into which rank `me` copies a small tensor before it calls open() for its
  /// next collective.
  std::byte* copy_of_next(std::size_t me) noexcept { return seats_[me].copies[(seats_[me].calls + 1) % 2].data(); }

  /// Returns the argument `data` that `rank` passed to open() in the current collective. Call it
  /// between open() and close(); `me` is the calling rank.
  void* data_of(std::size_t rank, std::size_t me) const noexcept {
    return seats_[rank].shown[seats_[me].calls % 2].data;
  }
  void* out_of(std::size_t rank, std::size_t me) const noexcept { return seats_[rank].shown[seats_[me].calls % 2].out; }
  std::byte* copy_of(std::size_t rank, std::size_t me) noexcept {
    return seats_[rank].copies[seats_[me].calls % 2].data();
  }

  /// Publishes the operand `mine` and the pointers `data` and `out` of rank `me`. Returns when all
  /// ranks have arrived with equal operands. Throws `error` if operands differ, a rank has ended or
  /// does not arrive within `limit`, or the run has failed.
  void open(std::size_t me, operand const& mine, std::chrono::milliseconds limit, void* data = nullptr,
            void* out = nullptr) {
    seat& own = seats_[me];
    std::uint64_t const call = ++own.calls;
    own.operands[call % 2] = mine;
    own.shown[call % 2] = {data, out, mine.digest()};
    own.stage = 0;
    std::uint64_t const phase = phase_of(own);
    arrive(own, phase);
    room_->wait([&] { return all_at(phase) || (line_->troubled() && hopeless(phase)); }, limit);
    if (!all_at(phase) || line_->failed()) settle(me, phase, mine, limit);
    compare(me, call);
  }

  /// Waits until all ranks have finished the current stage of the collective. May be called at most
  /// twice between open() and close().
  void stage_done(std::size_t me) noexcept { reach(seats_[me], seats_[me].stage + 1); }

  /// Declares that rank `me` no longer accesses its peers' memory, and waits until no peer accesses
  /// the memory of `me`.
  void close(std::size_t me) noexcept { reach(seats_[me], last_stage); }

  /// Returns the end of a sentence that names the current collective of rank `me`, for example "in
  /// all_reduce(sum) of Float [3] for 'grads', call 17 of group tp".
  std::string where(std::string const& operation, std::size_t me) const {
    return where_text(operation, seats_[me].calls, name_);
  }

  /// Marks the run as failed because the ranks `missing` did not reach the call `where`, unless the
  /// run has already failed. Then throws the error of the first failure of the run.
  [[noreturn]] void lose(std::size_t me, std::string const& where, std::vector<int> const& missing,
                         std::chrono::milliseconds limit) {
    lose_peers(*line_, members_[me], where, missing, limit);
  }

 private:
  struct showing {
    void* data = nullptr;
    void* out = nullptr;
    std::uint64_t digest = 0;
  };
  struct alignas(128) seat {
    std::atomic<std::uint64_t> phase{0};
    showing shown[2];  // next to `phase`: a peer reads all it needs from one cache line
    std::uint64_t calls = 0;
    std::uint64_t stage = 0;  // current stage of the call
    alignas(128) operand operands[2];
    alignas(64) std::array<std::byte, copy_bytes> copies[2];
  };

  static constexpr std::uint64_t last_stage = 3;

  static std::uint64_t phase_of(seat const& own) noexcept { return own.calls * (last_stage + 1) + own.stage; }

  void reach(seat& own, std::uint64_t stage) noexcept {
    own.stage = stage;
    std::uint64_t const phase = phase_of(own);
    arrive(own, phase);
    while (!room_->wait([&] { return all_at(phase); }, std::chrono::hours(1))) {
    }
  }

  void arrive(seat& own, std::uint64_t phase) noexcept {
    own.phase.store(phase);
    if (all_at(phase)) room_->wake();  // the last rank to arrive sees that all are there
  }

  bool all_at(std::uint64_t phase) const noexcept {
    for (std::size_t rank = 0; rank < members_.size(); ++rank) {
      if (seats_[rank].phase.load() < phase) return false;
    }
    return true;
  }

  /// Returns true if waiting is useless: the run has failed, or a rank has ended that has not
  /// reached `phase`. Checks first if the rank has ended, because a rank reaches its last phase
  /// before it ends.
  bool hopeless(std::uint64_t phase) const noexcept {
    if (line_->failed()) return true;
    for (std::size_t rank = 0; rank < members_.size(); ++rank) {
      if (line_->ended(members_[rank]) && seats_[rank].phase.load() < phase) return true;
    }
    return false;
  }

  /// Decides, after a failure or a timeout, if the collective still takes place. All ranks reach
  /// the same decision. A rank that finds a peer missing after a failure was recorded withdraws for
  /// good. The missing peer later calls settle() too and sees the withdrawal. If all ranks have
  /// arrived and none has withdrawn, the collective continues, because a peer may already be
  /// copying. Otherwise throws the first failure of the run.
  void settle(std::size_t me, std::uint64_t phase, operand const& mine, std::chrono::milliseconds limit) {
    if (!line_->failed()) {
      std::vector<int> missing;
      for (std::size_t rank = 0; rank < members_.size(); ++rank) {
        if (seats_[rank].phase.load() < phase) missing.push_back(members_[rank]);
      }
      if (missing.empty()) return;
      try {
        lose(me, where(mine.text(), me), missing, limit);
      } catch (error const&) {
      }
    }
    {
      std::lock_guard const lock(settling_);
      if (!withdrawn_ && all_at(phase)) return;
      withdrawn_ = true;
    }
    throw line_->cause();
  }

  void compare(std::size_t me, std::uint64_t call) const {
    for (std::size_t rank = 1; rank < members_.size(); ++rank) {
      if (seats_[rank].shown[call % 2].digest == seats_[0].shown[call % 2].digest) continue;
      throw disagreement(seats_[me].calls, name_, members_[0], seats_[0].operands[call % 2], members_[rank],
                         seats_[rank].operands[call % 2]);
    }
  }

  std::string name_;
  std::vector<int> members_;
  std::shared_ptr<lifeline> line_;
  std::shared_ptr<waiting_room> room_;
  std::unique_ptr<seat[]> seats_;
  std::mutex settling_;
  bool withdrawn_ = false;
};

}  // namespace redco::comm::detail
