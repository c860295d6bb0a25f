#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace redco::comm::detail {

/// A thread that moves the bytes of messages while the ranks compute. MPI and sockets send most
/// bytes of a large message only during calls of this process. The thread starts with the first
/// message, and sleeps while no message is in flight. `Messages`: the transport's type of messages
/// in flight.
template <class Messages>
class message_mover {
 public:
  /// Creates a mover. `is_complete(messages)` moves bytes without blocking and returns true if the
  /// messages are complete.
  explicit message_mover(std::function<bool(Messages&)> is_complete) : is_complete_(std::move(is_complete)) {}
  message_mover(message_mover const&) = delete;
  message_mover& operator=(message_mover const&) = delete;
  ~message_mover() {
    {
      std::lock_guard const lock(mutex_);
      over_.store(true);
    }
    bell_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  /// Moves `some` until the messages are complete. The caller must call remove() before it destroys
  /// them.
  void add(Messages& some) {
    std::lock_guard const lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    // The mover allocates no memory, because no caller could handle that failure.
    failures_.reserve(failures_.size() + in_flight_.size() + 1);
    in_flight_.push_back(&some);
    pause_ = shortest;
    bell_.notify_all();
  }

  /// Stops moving `some`. Returns the error that occurred while the mover moved them, or null.
  std::exception_ptr remove(Messages& some) {
    std::lock_guard const lock(mutex_);
    std::erase(in_flight_, &some);
    auto const failed =
        std::find_if(failures_.begin(), failures_.end(), [&](auto const& one) { return one.first == &some; });
    if (failed == failures_.end()) return nullptr;
    std::exception_ptr const failure = failed->second;
    failures_.erase(failed);
    return failure;
  }

  /// Moves no messages any more. Does not block.
  void stop() noexcept {
    over_.store(true);
    bell_.notify_all();
  }

 private:
  static constexpr auto shortest = std::chrono::microseconds(20), longest = std::chrono::microseconds(200);

  void work() {
    std::unique_lock lock(mutex_);
    while (!over_.load()) {
      if (in_flight_.empty()) bell_.wait(lock);
      std::erase_if(in_flight_, [this](Messages* some) { return over_.load() || is_done(some); });
      // A receiver that is late costs few polls.
      pause_ = std::min(pause_ + pause_ / 8, longest);
      if (!in_flight_.empty()) bell_.wait_for(lock, pause_);
    }
  }

  bool is_done(Messages* some) {
    try {
      return is_complete_(*some);
    } catch (...) {
      failures_.emplace_back(some, std::current_exception());
      return true;
    }
  }

  std::function<bool(Messages&)> is_complete_;
  std::mutex mutex_;
  std::condition_variable bell_;
  std::thread thread_;
  std::vector<Messages*> in_flight_;
  /// Errors of messages that the owner has not removed yet.
  std::vector<std::pair<Messages*, std::exception_ptr>> failures_;
  std::chrono::microseconds pause_ = shortest;  ///< time between two polls
  std::atomic<bool> over_{false};
};

}  // namespace redco::comm::detail
