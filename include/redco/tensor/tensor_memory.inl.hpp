#pragma once

#include <redco/tensor/tensor_memory.hpp>

#include <redco/config.hpp>

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Logging.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace redco::tensors {

/// An allocator for libtorch's CPU tensors. A large block of a thread with a kept_memory::scope
/// comes from that thread's cache. All other blocks come from libtorch's default allocator.
struct kept_memory::allocator final : c10::Allocator {
  static inline thread_local std::shared_ptr<kept_memory> owner;

  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes < least || owner == nullptr) return otherwise().allocate(bytes);
    auto const [block, size] = owner->allocate(bytes);
    {
      std::lock_guard const lock(allocated().mutex);
      allocated().blocks.emplace(block, std::pair{owner, size});
    }
    c10::profiledCPUMemoryReporter().New(block, bytes);
    return {block, block, &give_back, c10::Device(c10::kCPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* to, void const* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

 private:
  struct table {
    std::mutex mutex;
    std::unordered_map<void*, std::pair<std::shared_ptr<kept_memory>, std::size_t>> blocks;
  };

  static c10::Allocator& otherwise() { return *c10::GetDefaultCPUAllocator(); }

  /// Returns the process's table of memory blocks that tensors use now, with the cache of each. The
  /// table is never destroyed, because tensors may outlive all static objects.
  static table& allocated() {
    static table& all = *new table;
    return all;
  }

  static void give_back(void* block) {
    std::pair<std::shared_ptr<kept_memory>, std::size_t> from;
    {
      std::lock_guard const lock(allocated().mutex);
      if (auto const at = allocated().blocks.find(block); at != allocated().blocks.end()) {
        from = std::move(at->second);
        allocated().blocks.erase(at);
      }
    }
    if (from.first == nullptr) return otherwise().raw_deallocate(block);
    c10::profiledCPUMemoryReporter().Delete(block);
    from.first->free(block, from.second);
  }
};

REDCO_INLINE void memory_counter::count_thread(std::shared_ptr<memory_counter> counter) {
  // Creates libtorch's state of this thread first, so that it is destroyed after the scope.
  static_cast<void>(c10::ThreadLocalDebugInfo::current());
  thread_local std::optional<scope> counting;
  counting.emplace(std::move(counter));
}

REDCO_INLINE kept_memory::scope::scope() : before_(std::exchange(allocator::owner, mine_)) {}

REDCO_INLINE kept_memory::scope::~scope() {
  allocator::owner = std::move(before_);
  mine_->close();
}

REDCO_INLINE void kept_memory::install() {
  [[maybe_unused]] static bool const once = [] {
    if (c10::GetCPUAllocator() == c10::GetDefaultCPUAllocator()) c10::SetCPUAllocator(new allocator);
    // Debian's libsentencepiece has a larger object with the name of libtorch's FLAGS_minloglevel.
    // The loader merges the two, and the constructor of the larger one overwrites the next flag,
    // with which libtorch aborts the process where it would throw.
    FLAGS_caffe2_use_fatal_for_enforce = false;
#ifdef __GLIBC__
    // Otherwise malloc returns freed pages after each step, which costs a tenth of the time of
    // small models.
    if (std::getenv("MALLOC_TRIM_THRESHOLD_") == nullptr && std::getenv("MALLOC_MMAP_THRESHOLD_") == nullptr) {
      mallopt(M_MMAP_THRESHOLD, int{least});
      mallopt(M_TRIM_THRESHOLD, 256 << 20);
    }
#endif
    return true;
  }();
}

REDCO_INLINE std::size_t kept_memory::kept() const {
  std::lock_guard const lock(mutex_);
  return kept_;
}

REDCO_INLINE std::pair<void*, std::size_t> kept_memory::allocate(std::size_t bytes) {
  {
    std::lock_guard const lock(mutex_);
    if (auto const at = blocks_.lower_bound(bytes); at != blocks_.end() && at->first <= 2 * bytes) {
      auto const [size, block] = *at;
      blocks_.erase(at);
      kept_ -= size;
      in_use_ += size;
      return {block, size};
    }
    in_use_ += bytes;
    most_ = std::max(most_, in_use_);
    release_until(most_ - in_use_);
  }
  try {
    return {c10::alloc_cpu(bytes), bytes};
  } catch (...) {
    std::lock_guard const lock(mutex_);
    in_use_ -= bytes;
    throw;
  }
}

REDCO_INLINE void kept_memory::free(void* block, std::size_t size) noexcept {
  std::lock_guard const lock(mutex_);
  in_use_ -= size;
  try {
    if (open_) {
      blocks_.emplace(size, block);
      kept_ += size;
      return;
    }
  } catch (std::bad_alloc const&) {  // no memory for the map's node: free the block
  }
  c10::free_cpu(block);
}

/// Frees cached memory blocks, largest first, until at most `most` bytes remain cached. Largest
/// first means that the fewest blocks are freed.
REDCO_INLINE void kept_memory::release_until(std::size_t most) noexcept {
  while (kept_ > most) {
    auto const largest = std::prev(blocks_.end());
    kept_ -= largest->first;
    c10::free_cpu(largest->second);
    blocks_.erase(largest);
  }
}

REDCO_INLINE void kept_memory::close() noexcept {
  std::lock_guard const lock(mutex_);
  open_ = false;
  release_until(0);
}

}  // namespace redco::tensors
