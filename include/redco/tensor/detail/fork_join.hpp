#pragma once

#include <redco/config.hpp>

#ifdef REDCO_THREAD_SANITIZER
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
/// Attribute for a function that accesses another thread's data before it can declare its
/// synchronisation to ThreadSanitizer. Excludes the function from the checks.
#define REDCO_UNSEEN_BY_THREAD_SANITIZER __attribute__((no_sanitize("thread")))
#else
#define REDCO_UNSEEN_BY_THREAD_SANITIZER
#endif

namespace redco::tensors::detail {

/// A scope that declares the synchronisation of a parallel loop to ThreadSanitizer, which cannot
/// see it in libgomp. The caller's earlier code happens before the parts of the loop, and these
/// before the caller's later code. The caller and each part hold a fork_join with the same address
/// `loop`.
class fork_join {
 public:
  enum class side { caller, part };

#ifdef REDCO_THREAD_SANITIZER
  fork_join(side of, void const* loop) : side_(of), loop_(const_cast<void*>(loop)) {
    side_ == side::caller ? __tsan_release(loop_) : __tsan_acquire(loop_);
  }
  ~fork_join() { side_ == side::caller ? __tsan_acquire(loop_) : __tsan_release(loop_); }
  fork_join(fork_join const&) = delete;
  fork_join& operator=(fork_join const&) = delete;

 private:
  side side_;
  void* loop_;
#else
  constexpr fork_join(side, void const*) {}
#endif
};

}  // namespace redco::tensors::detail
