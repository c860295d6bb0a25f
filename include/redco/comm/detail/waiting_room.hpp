#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace redco::comm::detail {

inline void pause_core() noexcept {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// A way for threads to wait for a condition on atomics. A waiting thread first spins for some
/// microseconds, in which a peer usually arrives, then yields its core, then sleeps. Yielding costs
/// little if no other thread wants the core. With `crowded` (more threads than cores), threads do
/// not spin, because spinning would only delay the peer.
class waiting_room {
 public:
  explicit waiting_room(bool crowded) noexcept : spins_(crowded ? 0 : 200), offers_(crowded ? 50 : 1'000) {}

  /// Waits until `done()` returns true. Returns true in this case, and false after the time
  /// `limit`. `done` must be cheap and must read its atomics with sequential consistency.
  template <class Done>
  bool wait(Done const& done, std::chrono::milliseconds limit) {
    for (int turn = 0; turn < spins_; ++turn) {
      if (done()) return true;
      pause_core();
    }
    auto const end = std::chrono::steady_clock::now() + limit;
    for (int turn = 0; turn < offers_; ++turn) {
      if (done()) return true;
      std::this_thread::yield();
    }
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    bool const came = sleep_until(lock, end, done);
    sleepers_.fetch_sub(1);
    return came;
  }

  /// Wakes all sleeping threads. Call it after each sequentially consistent store that may fulfil a
  /// waiting thread's condition. Either wake() sees that a thread sleeps, or that thread's last
  /// check sees the store.
  void wake() noexcept {
    if (sleepers_.load() == 0) return;
    { std::lock_guard const lock(mutex_); }
    bell_.notify_all();
  }

 private:
  template <class Done>
  bool sleep_until(std::unique_lock<std::mutex>& lock, std::chrono::steady_clock::time_point end, Done const& done) {
    while (!done()) {
      if (bell_.wait_until(lock, end) == std::cv_status::timeout) return done();
    }
    return true;
  }

  int spins_;
  int offers_;
  alignas(64) std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable bell_;
};

}  // namespace redco::comm::detail
