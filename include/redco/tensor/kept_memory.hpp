#pragma once

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace redco {

/// What large tensors of a thread give back, kept for its next ones of that size or of half of it at least: the system
/// clears every page that it hands out, and a training step asks for the same blocks as the one before. What lies here and
/// what is in use are together never more than what was in use at once. Given back to the system where the scope ends.
class kept_memory {
 public:
  /// Bytes of the smallest block that is kept; malloc keeps smaller ones itself.
  static constexpr std::size_t least = std::size_t{8} << 20;

  /// Keeps the blocks of this thread while it lives.
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

  /// Makes libtorch's CPU tensors ask here, once for the process; does nothing where the program has an allocator of its own.
  static void install();

  /// Bytes that lie here.
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

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tensor/kept_memory.inl.hpp>
#endif
