#pragma once

#if defined(__SANITIZE_THREAD__)
#define REDCO_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define REDCO_THREAD_SANITIZER
#endif
#endif

#ifdef REDCO_THREAD_SANITIZER
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
/// On a function that reads what another thread wrote before it can say so.
#define REDCO_UNSEEN_BY_THREAD_SANITIZER __attribute__((no_sanitize("thread")))
#else
#define REDCO_UNSEEN_BY_THREAD_SANITIZER
#endif

namespace redco::detail {

/// Tells ThreadSanitizer what libgomp, which is not instrumented, does not: parts of a parallel loop start after the code
/// before it and end before the code behind it. Both sides hold one while they run and name the same address.
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

}  // namespace redco::detail
