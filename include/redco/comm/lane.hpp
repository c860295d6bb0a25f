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

/// A background thread that runs collectives of one rank while the rank computes. Collectives run
/// one after the other, in the order of their requests. All ranks must request the same collectives
/// in the same order. Only one thread may use a lane.
///
/// The thread starts with the first request, and its memory counts as the rank's memory. Each
/// collective waits for peers until the deadline of its group. A failure ends the run on all ranks.
class lane {
 public:
  /// Creates a lane; the first request starts its thread. Only the lane uses `own`, a handle on the
  /// same ranks as `like`. Traffic is added to the counters of `like`. Both groups must outlive the
  /// lane.
  lane(group& own, group& like, std::shared_ptr<memory_counter> memory);

  /// Smallest message, in bytes, that is worth a request. Callers that split a message make no
  /// smaller pieces.
  std::int64_t least_bytes = product_runs::least_bytes;

  lane(lane const&) = delete;
  lane& operator=(lane const&) = delete;
  /// Drops the requests that have not begun, and waits for the running one.
  ~lane();

  /// Requests a run of `calls` with the lane's handle, and returns the request's number (1, 2,
  /// ...). The run ends before wait() returns. Until then, no other code may touch the memory that
  /// `calls` reads or writes. The calling thread's collective_label, a literal, names the
  /// collectives in messages. A group of one runs `calls` at once.
  std::uint64_t ask(std::function<void(group&)> calls);

  /// Requests an in-place sum of the contiguous tensor `x` over the ranks, and returns the
  /// request's number.
  std::uint64_t all_reduce(at::Tensor const& x);

  /// Blocks until all requests are done, and adds their traffic to the counters of the group.
  /// Throws the first failure; after a failure the lane is unusable.
  void wait();

  /// Blocks until the request `number` is done. Throws the first failure of any request; after a
  /// failure the lane is unusable.
  void wait(std::uint64_t number);

 private:
  struct job {
    std::function<void(group&)> calls;
    std::string_view label;
    diag::run_place place;  ///< run place (rank, step, function) of the requesting thread
  };

  void work();
  std::exception_ptr made(job const& one) noexcept;

  group& own_;
  group& like_;
  std::shared_ptr<memory_counter> memory_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable bell_;
  std::deque<job> queue_;  ///< requests; the first one is running
  std::uint64_t asked_ = 0;
  std::exception_ptr failure_;
  bool over_ = false;
};

}  // namespace redco::comm

#ifndef REDCO_COMPILED
#include <redco/comm/lane.inl.hpp>
#endif
