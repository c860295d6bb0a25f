#pragma once

#include <redco/tensor/torch.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace redco {

/// Bytes of tensor memory (c10's allocators, all devices together) that the threads which carry this counter hold, and
/// the most they held at once. A block that one of them frees counts as freed whoever of them made it; blocks made
/// before counting began, or freed by a thread that does not count, are not seen.
class memory_counter final : public c10::MemoryReportingInfoBase {
 public:
  /// Makes this thread report to a counter while it lives. One per thread and moment.
  class scope {
   public:
    explicit scope(std::shared_ptr<memory_counter> counter)
        : guard_(c10::DebugInfoKind::PROFILER_STATE, std::move(counter)) {}

   private:
    c10::DebugInfoGuard guard_;
  };

  std::int64_t current() const noexcept { return current_.load(std::memory_order_relaxed); }
  std::int64_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }

  /// Lets the peak start again from what is held now.
  void reset_peak() noexcept { peak_.store(current(), std::memory_order_relaxed); }

  void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t, c10::Device) override {
    std::int64_t const now = current_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::int64_t most = peak();
    while (now > most && !peak_.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
    }
  }
  bool memoryProfilingEnabled() const override { return true; }

 private:
  std::atomic<std::int64_t> current_{0};
  std::atomic<std::int64_t> peak_{0};
};

/// Counts what a library takes for the time of one call and gives back, such as oneDNN for its products: no tensors, and
/// different from one version and CPU to another. One for each thread; a `memory_counter::scope` of it goes around such calls.
inline std::shared_ptr<memory_counter> const& library_memory() {
  thread_local auto const counter = std::make_shared<memory_counter>();
  return counter;
}

}  // namespace redco
