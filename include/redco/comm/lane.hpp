#pragma once

#include <redco/comm/group.hpp>
#include <redco/tensor/memory_counter.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/product_runs.hpp>

#include <redco/diag/run_place.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>

namespace redco::comm {

/// Collectives over the ranks of a group that run while their rank computes: on a thread of their own, one after the other, in the
/// order in which they were asked for. All ranks ask for the same in the same order. One thread uses a lane.
///
/// The thread starts with the first of them; what it takes is counted as the rank's memory. Each waits for the peers as long as its
/// group's deadline says. A failure ends the run with its cause, on all ranks.
class lane {
 public:
  /// `own` is a handle that nobody else uses, on the same ranks as `like`, in which its traffic counts. Both outlive the lane.
  lane(group& own, group& like, std::shared_ptr<memory_counter> memory);

  /// What has fewer bytes is not worth the lane's thread: whoever cuts messages into runs makes none smaller.
  std::int64_t least_bytes = product_runs::least_bytes;

  lane(lane const&) = delete;
  lane& operator=(lane const&) = delete;
  /// What has not begun is given up; what has is waited for.
  ~lane();

  /// Runs `calls` with the lane's handle on the ranks, some time before wait() returns; until then nobody else touches what they
  /// read and write. The calling thread's collective_label, a literal, names them. Gives its number, from 1 on. A group of one runs
  /// them at once.
  std::uint64_t ask(std::function<void(group&)> calls);

  /// Has the elements of `x`, which is contiguous, replaced by their sums over the ranks.
  std::uint64_t all_reduce(at::Tensor const& x);

  /// Returns when all is done, and counts it as what the group was asked for. Errors: the first failure; the lane is of no more use
  /// then.
  void wait();

  /// Returns when what has this number is done. Errors: as above.
  void wait(std::uint64_t number);

 private:
  struct job {
    std::function<void(group&)> calls;
    std::string_view label;
    diag::run_place place;  ///< of the rank, which asks
  };

  void work();
  std::exception_ptr made(job const& one) noexcept;

  group& own_;
  group& like_;
  std::shared_ptr<memory_counter> memory_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable bell_;
  std::deque<job> queue_;  ///< the first is at work
  std::uint64_t asked_ = 0;
  std::exception_ptr failure_;
  bool over_ = false;
};

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/lane.inl.hpp>
#endif
