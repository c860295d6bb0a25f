#pragma once

#include <redco/comm/group.hpp>
#include <redco/tensor/memory_counter.hpp>
#include <redco/tensor/torch.hpp>

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>

namespace redco::comm {

/// Sums over the ranks of a group that run while their rank computes: on a thread of their own, one after the other, in the order in
/// which they were asked for. All ranks ask for the same in the same order. One thread uses a lane.
///
/// The thread starts with the first sum; what it takes is counted as the rank's memory. Each sum waits for the peers as long as its
/// group's deadline says. A failure ends the run with its cause, on all ranks.
class lane {
 public:
  /// `own` is a handle that nobody else uses, on the same ranks as `like`, in which its traffic counts. Both outlive the lane.
  lane(group& own, group& like, std::shared_ptr<memory_counter> memory);
  lane(lane const&) = delete;
  lane& operator=(lane const&) = delete;
  /// What has not begun is given up; what has is waited for.
  ~lane();

  /// Has the elements of `x` replaced by their sums over the ranks, some time before wait() returns; until then nobody else touches
  /// them. `x` is contiguous. The calling thread's collective_label, a literal, names it.
  void all_reduce(at::Tensor const& x);

  /// Returns when all is done. Errors: the first failure; the lane is of no more use then.
  void wait();

 private:
  struct sum {
    at::Tensor x;
    std::string_view label;
  };

  void work();
  std::exception_ptr made(sum const& one) noexcept;

  group& own_;
  group& like_;
  std::shared_ptr<memory_counter> memory_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable bell_;
  std::deque<sum> queue_;  ///< the first is at work
  std::exception_ptr failure_;
  bool over_ = false;
};

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/lane.inl.hpp>
#endif
