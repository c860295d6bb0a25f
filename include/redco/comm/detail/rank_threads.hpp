#pragma once

#include <redco/comm/lifeline.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/describe.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/tensor/rank_environment.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/diag/error.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace redco::comm::detail {

/// Settings of one run (one call of world::run) that all ranks of the process share.
struct run_setup {
  lifeline& line;
  rank_groups& groups;
  int threads;  ///< number of libtorch threads per rank
  std::chrono::milliseconds later_deadline;
  tensors::function_ref<void(rank_context&)> body;
};

/// Calls `run.body` on the calling thread, which acts as `rank`. An exception of the body is
/// recorded as the failure of the run, unless another rank failed first.
inline void run_rank(run_setup const& run, int rank) noexcept {
  // Destroyed after a failure is recorded: the record ends the waits of the rank's lanes.
  std::optional<rank_context> context;
  try {
    auto const memory = std::make_shared<tensors::memory_counter>();
    tensors::rank_environment const environment("rank " + std::to_string(rank), run.threads, memory);
    context.emplace(rank, run.groups, memory, run.later_deadline);
    run.body(*context);
  } catch (error const& failure) {
    run.line.fail(rank, failure);
  } catch (std::exception const& failure) {
    run.line.fail(rank, exit_code::internal, tensors::words_of(failure));
  } catch (...) {
    run.line.fail(rank, exit_code::internal, "threw something that is not a std::exception");
  }
  context.reset();
  run.line.end(rank);
}

/// Prints the failure, calls `last(exit code)`, and ends the process. Used if the ranks `stuck`
/// have not ended in time after a failure. Their threads cannot be stopped and still use the
/// caller's data, so any other way to end the process could hang.
template <class Last>
[[noreturn]] void kill_process(lifeline const& line, std::vector<int> const& stuck, Last const& last) {
  error const cause = line.cause();
  std::string text = std::string(cause.what()) + "\n";
  for (int const rank : stuck) text += "rank " + std::to_string(rank) + " does not end: killed\n";
  std::fputs(text.c_str(), stderr);
  last(static_cast<int>(cause.code()));
  std::_Exit(static_cast<int>(cause.code()));
}

/// A set of threads, one for each rank of this process. They start with the first run and sleep
/// between runs.
class rank_threads {
 public:
  /// Creates a set for the ranks `first` to `first + ranks - 1` without starting their threads.
  rank_threads(int first, int ranks) : first_(first), busy_(static_cast<std::size_t>(ranks)) {}
  rank_threads(rank_threads const&) = delete;
  rank_threads& operator=(rank_threads const&) = delete;
  ~rank_threads() { dismiss(); }

  int first() const noexcept { return first_; }
  int ranks() const noexcept { return static_cast<int>(busy_.size()); }

  /// Runs `setup.body` concurrently on the thread of each rank, and returns when all ranks have
  /// returned. Meanwhile, the calling thread calls `look` after each `pause`, with the ranks that
  /// still run. Throws `error` with exit code 70 if a thread cannot be started.
  void run(run_setup const& setup, std::chrono::milliseconds pause,
           tensors::function_ref<void(std::vector<int> const&)> look) {
    if (threads_.empty()) start();
    int const threads_before = at::get_num_threads();
    std::unique_lock lock(mutex_);
    now_ = &setup;
    busy_.assign(busy_.size(), true);
    ++runs_;
    bell_.notify_all();
    std::vector<int> busy;
    while (!bell_.wait_for(lock, pause, [&] { return (busy = still_busy()).empty(); })) {
      lock.unlock();
      look(busy);
      lock.lock();
    }
    at::set_num_threads(threads_before);
  }

 private:
  void start() {
    try {
      for (std::size_t at = 0; at < busy_.size(); ++at) threads_.emplace_back([this, at] { work(at); });
    } catch (std::exception const& failure) {
      int const rank = first_ + static_cast<int>(threads_.size());
      dismiss();
      throw error(exit_code::internal, rank, std::string("its thread cannot be started: ") + failure.what());
    }
  }

  /// Loop of the thread of rank `me`: executes each run (call of world::run) until dismiss() is
  /// called.
  void work(std::size_t me) {
    std::unique_lock lock(mutex_);
    for (std::uint64_t done = 0;; ++done) {
      bell_.wait(lock, [&] { return over_ || runs_ > done; });
      if (over_) return;
      run_setup const& setup = *now_;
      lock.unlock();
      run_rank(setup, first_ + static_cast<int>(me));
      lock.lock();
      busy_[me] = false;
      bell_.notify_all();
    }
  }

  std::vector<int> still_busy() const {
    std::vector<int> ranks;
    for (std::size_t at = 0; at < busy_.size(); ++at)
      if (busy_[at]) ranks.push_back(first_ + static_cast<int>(at));
    return ranks;
  }

  void dismiss() {
    {
      std::lock_guard const lock(mutex_);
      over_ = true;
    }
    bell_.notify_all();
    for (std::thread& one : threads_) one.join();
    threads_.clear();
  }

  int first_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable bell_;
  run_setup const* now_ = nullptr;  ///< settings of the current run; replaced at each run
  std::uint64_t runs_ = 0;
  std::vector<bool> busy_;
  bool over_ = false;
};

}  // namespace redco::comm::detail
