#pragma once

#include <redco/comm/group.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/pieces.hpp>

#include <redco/diag/run_position.hpp>

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

/// A background thread that executes collectives for one rank while the rank computes. It executes
/// the requested collectives one after the other. All ranks must request the same collectives in
/// the same order. Only one thread may use a lane.
///
/// The thread starts with the first request. Its memory counts as the rank's memory. Each
/// collective waits for peers until the deadline of its group. A failure ends the run on all ranks.
class lane {
 public:
  /// Creates a lane; the first request starts its thread. `own` is a handle that only the lane's
  /// thread uses. `like` is the rank's own handle on the same ranks; its counters also count the
  /// lane's traffic. Both handles must outlive the lane.
  lane(group& own, group& like, std::shared_ptr<tensors::memory_counter> memory);

  /// Smallest size in bytes of a message that is worth a request to this lane. Callers that split a
  /// message make no smaller pieces.
  std::int64_t min_bytes = shape::product_runs::min_bytes;

  lane(lane const&) = delete;
  lane& operator=(lane const&) = delete;
  /// Drops the requests that have not begun, and waits for the request in progress.
  ~lane();

  /// Requests that the lane's thread executes `calls` with the lane's handle. Returns the request's
  /// number (1, 2, ...). Until wait() returns, no other code may touch the memory that `calls`
  /// uses. Error messages use the calling thread's collective_label, whose text must be a literal.
  /// In a group of one rank, `calls` is executed at once.
  std::uint64_t request(std::function<void(group&)> calls);

  /// Requests an in-place sum of the contiguous tensor `x` over the ranks, and returns the
  /// request's number.
  std::uint64_t all_reduce(at::Tensor const& x) {
    return request([x](group& ranks) { ranks.all_reduce(x); });
  }

  /// Blocks until all requests are done, and adds their traffic to the counters of the rank's own
  /// group handle. Throws the first failure of a request; after a failure the lane is unusable.
  void wait();

  /// Blocks until the request `number` is done. Throws the first failure of any request; after a
  /// failure the lane is unusable.
  void wait(std::uint64_t number);

 private:
  struct job {
    std::function<void(group&)> calls;
    std::string_view label;
    /// Rank, step and function of the requesting thread, for error messages.
    diag::run_position position;
  };

  void work();
  std::exception_ptr run_job(job const& one) noexcept;

  group& own_;
  group& like_;
  std::shared_ptr<tensors::memory_counter> memory_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable bell_;
  std::deque<job> queue_;  ///< pending requests; the first one is in progress
  std::uint64_t requested_ = 0;
  std::exception_ptr failure_;
  bool over_ = false;
};

}  // namespace redco::comm

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/lane.inl.hpp>
#endif
