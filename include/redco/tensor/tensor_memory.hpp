#pragma once

#include <redco/tensor/torch.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace redco::tensors {

/// A counter of the current and peak bytes of tensor memory (c10 allocators, all devices) of the
/// threads that report to it. A block counts if a reporting thread allocates it, until a reporting
/// thread frees it. Blocks allocated before counting began are not counted.
class memory_counter final : public c10::MemoryReportingInfoBase {
 public:
  /// A scope during which this thread reports its allocations to a counter. A thread can have one
  /// such scope at a time.
  class scope {
   public:
    explicit scope(std::shared_ptr<memory_counter> counter)
        : guard_(c10::DebugInfoKind::PROFILER_STATE, std::move(counter)) {}

   private:
    c10::DebugInfoGuard guard_;
  };

  /// Reports the allocations of the calling thread to `counter` until the thread ends or calls this
  /// function again.
  static void count_thread(std::shared_ptr<memory_counter> counter);

  std::int64_t current() const noexcept { return current_.load(std::memory_order_relaxed); }
  std::int64_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }

  /// Resets the peak to the number of bytes allocated now.
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

/// Returns this thread's counter of memory that a library such as oneDNN allocates and frees within
/// one call. Code that calls such a library opens a `memory_counter::scope` with this counter. The
/// bytes belong to no tensors and vary with the library's version and the CPU, so they are counted
/// separately.
inline std::shared_ptr<memory_counter> const& library_memory() {
  thread_local auto const counter = std::make_shared<memory_counter>();
  return counter;
}

/// A cache of freed memory blocks of large CPU tensors of one thread. A block is reused for a later
/// tensor of at least half its size. Reuse avoids new pages, which the system must clear; each
/// training step asks for the same blocks. Cached and used bytes together never exceed the peak of
/// used bytes. The blocks return to the system when the kept_memory::scope ends.
class kept_memory {
 public:
  /// Size in bytes of the smallest block that is cached; malloc keeps smaller blocks.
  static constexpr std::size_t least = std::size_t{8} << 20;

  /// A scope during which freed memory blocks of large CPU tensors of this thread are cached.
  class scope {
   public:
    scope();
    ~scope();
    scope(scope const&) = delete;
    scope& operator=(scope const&) = delete;

    kept_memory const& memory() const { return *mine_; }

   private:
    std::shared_ptr<kept_memory> mine_ = std::make_shared<kept_memory>(), before_;
  };

  /// Installs an allocator with these caches for libtorch's CPU tensors, once per process, unless
  /// the program has set an allocator of its own. Lets libtorch throw an exception if memory is
  /// exhausted. Lets glibc's malloc keep freed pages of smaller blocks, unless the environment sets
  /// MALLOC_TRIM_THRESHOLD_ or MALLOC_MMAP_THRESHOLD_.
  static void install();

  /// Returns the number of bytes that this cache holds for reuse.
  std::size_t kept() const;

 private:
  struct allocator;

  std::pair<void*, std::size_t> allocate(std::size_t bytes);
  void free(void* block, std::size_t size) noexcept;
  void release_until(std::size_t most) noexcept;
  void close() noexcept;

  mutable std::mutex mutex_;
  std::multimap<std::size_t, void*> blocks_;
  std::size_t kept_ = 0, in_use_ = 0, most_ = 0;
  bool open_ = true;
};

}  // namespace redco::tensors

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tensor/tensor_memory.inl.hpp>
#endif
