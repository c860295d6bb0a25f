#pragma once

#include <atomic>
#include <cstdint>

namespace redco::kernel::cpu {

inline std::atomic<std::int64_t>& small_work_cell() {
  static std::atomic<std::int64_t> most = std::int64_t{1} << 20;
  return most;
}

/// Returns the largest number of multiplications for which a matrix product is small. One thread
/// computes such a product before other threads would wake up. Operator dispatch, autograd nodes
/// and allocations take longer than its arithmetic.
inline std::int64_t small_work() { return small_work_cell().load(std::memory_order_relaxed); }

/// A scope that sets another limit of small_work() for all threads, for tests. 0 means that no
/// product is small. The destructor restores the previous limit.
class forced_small_work {
 public:
  explicit forced_small_work(std::int64_t most) : before_(small_work_cell().exchange(most)) {}
  ~forced_small_work() { small_work_cell().store(before_); }
  forced_small_work(forced_small_work const&) = delete;
  forced_small_work& operator=(forced_small_work const&) = delete;

 private:
  std::int64_t before_;
};

}  // namespace redco::kernel::cpu
