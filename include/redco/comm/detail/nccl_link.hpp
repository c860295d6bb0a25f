#pragma once

#include <redco/comm/detail/device_queue.hpp>
#include <redco/comm/detail/nccl_api.hpp>
#include <redco/comm/lifeline.hpp>
#include <redco/tensor/function_ref.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace redco::comm::detail {

/// A table of NCCL's functions, loaded from a shared library that is opened at run time and stays
/// open.
struct nccl_library {
  nccl::get_version* get_version;
  nccl::get_unique_id* get_unique_id;
  nccl::init_rank* init_rank;
  nccl::abort* abort;
  nccl::get_async_error* get_async_error;
  nccl::get_error_string* get_error_string;
  nccl::get_last_error* get_last_error;
  nccl::group_edge* group_start;
  nccl::group_edge* group_end;
  nccl::all_reduce* all_reduce;
  nccl::all_gather* all_gather;
  nccl::reduce_scatter* reduce_scatter;
  nccl::broadcast* broadcast;
  nccl::send* send;
  nccl::recv* recv;

  /// Opens the library at `path`. Throws `error` with exit code 64 if the library is missing, too
  /// old, or not NCCL; the message says what to install.
  static std::shared_ptr<nccl_library const> open(std::string const& path);

  /// Returns NCCL as this process uses it: the library at the path in the environment variable
  /// REDCO_NCCL, or else libtorch's libnccl.so.2. The first call opens the library.
  static std::shared_ptr<nccl_library const> of_process();

  /// Returns a description of an NCCL result for messages, such as "invalid usage (details that
  /// NCCL recorded)".
  std::string words_of(nccl::result status, nccl::communicator where) const;
};

/// A rank's end of an NCCL communicator, with the device queue in which its calls run. One thread
/// uses it at a time.
///
/// No wait exceeds its deadline. NCCL runs in non-blocking mode; the host polls its state, the
/// failure of the run, and the deadline. Every outcome except success aborts the communicator, so
/// that the device is not blocked by a call that never ends.
class nccl_link {
 public:
  /// The time limit of a wait, with the rank and the call that error messages name.
  struct patience {
    lifeline& line;
    int member;  ///< number of the waiting rank in the run
    std::chrono::milliseconds limit;
    std::string where;
    int awaited = -1;  ///< number of a rank that may not have made its call; -1: all ranks have
  };

  nccl_link(std::shared_ptr<nccl_library const> library, std::unique_ptr<device_queue> queue);
  nccl_link(nccl_link const&) = delete;
  nccl_link& operator=(nccl_link const&) = delete;
  ~nccl_link() { abort(); }

  /// Creates the communicator together with the ranks that use the same `id`. Throws `error` with
  /// exit code 64 if NCCL refuses the devices.
  void join(nccl::unique_id const& id, int ranks, int rank, patience const& until);

  /// Begins join() and returns without waiting. Calls may begin after has_joined() returns true.
  void begin_join(nccl::unique_id const& id, int ranks, int rank, patience const& until);
  bool has_joined(patience const& until) { return has_come_on(true, until); }

  /// Arguments for the NCCL calls of one NCCL group call (ncclGroupStart to ncclGroupEnd), and
  /// their outcome.
  struct round {
    nccl_library const& use;
    nccl::communicator in;
    nccl::stream on;
    nccl::result outcome = nccl::success;

    /// Records `next`, the result of an NCCL call, as the outcome, unless an earlier call failed.
    void made(nccl::result next) {
      if (!failed(outcome)) outcome = next;
    }
  };

  /// Calls `calls` between ncclGroupStart and ncclGroupEnd. The device runs the NCCL calls after
  /// the work already on the thread's current stream. Returns when the device has finished, or
  /// throws at the time limit `until`.
  void run(tensors::function_ref<void(round&)> calls, patience const& until);

  /// Makes calls that begin later wait for the work already on the thread's current stream.
  void follow() { queue_->follow(); }
  /// Calls `calls` as run() does, and returns without waiting. The next calls may begin after
  /// has_ended() returns true, which means that the device has finished.
  void begin(tensors::function_ref<void(round&)> calls, patience const& until);
  bool has_ended(patience const& until);

  /// Waits until `done()` returns true. Aborts the communicator and throws if the run fails or the
  /// time limit passes.
  void wait(tensors::function_ref<bool()> done, patience const& until);

  /// Aborts the communicator and its calls in flight. Further calls do nothing.
  void abort() noexcept;

 private:
  static bool failed(nccl::result status) { return status != nccl::success && status != nccl::in_progress; }

  [[noreturn]] void fail(exit_code code, std::string const& message, patience const& until);
  void judge(nccl::result status, bool joins, patience const& until);
  bool has_come_on(bool joins, patience const& until);

  std::shared_ptr<nccl_library const> library_;
  std::unique_ptr<device_queue> queue_;
  nccl::communicator communicator_ = nullptr;
  bool is_marked_ = false;  ///< true if the queue has a mark after the calls of the last begin()
};

}  // namespace redco::comm::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/detail/nccl_link.inl.hpp>
#endif
