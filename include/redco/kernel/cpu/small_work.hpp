#pragma once

#include <atomic>
#include <cstdint>

namespace redco::kernel::cpu {

inline std::atomic<std::int64_t>& small_work_cell() {
  static std::atomic<std::int64_t> most = std::int64_t{1} << 20;
  return most;
}

/// Multiplications up to which a product is small: one thread makes it before others would wake up,
/// and what surrounds it (operators, nodes, allocations) takes longer than the product itself.
inline std::int64_t small_work() { return small_work_cell().load(std::memory_order_relaxed); }

/// Sets another limit for all threads while it lives. 0: no product is small.
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
