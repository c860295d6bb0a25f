#pragma once

#include <redco/comm/detail/device_queue.hpp>
#include <redco/comm/detail/nccl_api.hpp>
#include <redco/comm/detail/nccl_library.hpp>
#include <redco/comm/lifeline.hpp>

#include <redco/tensor/function_ref.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace redco::comm::detail {

/// One member's end of an NCCL communicator, with the queue in which its calls are done. One thread uses it at a time.
///
/// Nothing here waits longer than it may: the communicator does not block, so that the host asks again and again whether it has
/// come on, whether the run has failed meanwhile, and whether the deadline is over. Whatever it ends with but success aborts the
/// communicator, which frees the device of a call that will not end.
class nccl_link {
 public:
  /// How long to wait, and for what, in messages.
  struct patience {
    lifeline& line;
    int member;  ///< of the run
    std::chrono::milliseconds limit;
    std::string where;
  };

  nccl_link(std::shared_ptr<nccl_library const> library, std::unique_ptr<device_queue> queue);
  nccl_link(nccl_link const&) = delete;
  nccl_link& operator=(nccl_link const&) = delete;
  ~nccl_link() { abort(); }

  /// Joins the ranks that have the same id. Errors: exit code 64 where NCCL does not take the devices for this.
  void join(nccl::unique_id const& id, int ranks, int rank, patience const& until);

  /// What the calls of one round are made with.
  struct round {
    nccl_library const& use;
    nccl::communicator in;
    nccl::stream on;
    nccl::result outcome = nccl::success;

    /// The first outcome that is a failure counts.
    void made(nccl::result next) {
      if (!failed(outcome)) outcome = next;
    }
  };

  /// Makes these calls as one, behind what this thread's current stream has now, and returns when the device has done them.
  void run(function_ref<void(round&)> calls, patience const& until);

  /// Ends what is under way. Any number of times.
  void abort() noexcept;

 private:
  static bool failed(nccl::result what) { return what != nccl::success && what != nccl::in_progress; }

  [[noreturn]] void fail(exit_code code, std::string const& what, patience const& until);
  void wait(function_ref<bool()> done, patience const& until);
  void judge(nccl::result what, bool joins, patience const& until);
  bool has_come_on(bool joins, patience const& until);

  std::shared_ptr<nccl_library const> library_;
  std::unique_ptr<device_queue> queue_;
  nccl::communicator communicator_ = nullptr;
};

}  // namespace redco::comm::detail

#ifndef REDCO_COMPILED
#include <redco/comm/detail/nccl_link.inl.hpp>
#endif
