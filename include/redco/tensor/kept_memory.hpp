#pragma once

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace redco::tensors {

/// A cache of freed memory blocks of large CPU tensors of one thread. A block is reused for a later
/// tensor of at least half its size. Reuse avoids new pages, which the system must clear; each
/// training step asks for the same blocks. Cached and used bytes together never exceed the peak of
/// used bytes. The blocks return to the system when the kept_memory::scope ends.
class kept_memory {
 public:
  /// Size in bytes of the smallest block that is cached; malloc caches smaller blocks itself.
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

  /// Installs an allocator with these caches for libtorch's CPU tensors, once per process. Does
  /// nothing if the program has set an allocator of its own.
  static void install();

  /// Returns the number of bytes that this cache holds for reuse.
  std::size_t kept() const;

 private:
  struct allocator;

  std::pair<void*, std::size_t> take(std::size_t bytes);
  void give(void* block, std::size_t size) noexcept;
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
#include <redco/tensor/kept_memory.inl.hpp>
#endif
