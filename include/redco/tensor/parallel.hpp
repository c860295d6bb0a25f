#pragma once

#include <redco/tensor/function_ref.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/config.hpp>

#include <ATen/Parallel.h>

#include <cstdint>

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

namespace redco::tensors {

/// Returns true if a call of `parallel` at this point would run on the calling thread alone.
inline bool computes_alone() { return at::get_num_threads() == 1 || at::in_parallel_region(); }

/// Divides [0, n) into at most ceil(n / grain) parts and calls f(begin, end) for each part, in
/// parallel on ATen's threads. Within a part, ATen and BLAS use one thread. `f` must not touch
/// autograd state, and its results must not depend on the partition. An exception from `f` reaches
/// the caller.
///
/// Uses TensorIterator::for_each, because at::parallel_for is serial in programs built without
/// -fopenmp. A separate thread pool would compete with OpenMP's spinning threads.
inline void parallel(std::int64_t n, std::int64_t grain, function_ref<void(std::int64_t, std::int64_t)> f) {
  if (n <= 0) return;
  if (n <= grain) return f(0, n);
  // for_each passes addresses of one-byte elements: address &none + i means index i. No byte is
  // accessed.
  static char none;
  auto const items = at::from_blob(&none, {n}, {1}, at::kByte);
  auto iterator = at::TensorIteratorConfig()
                      .check_all_same_dtype(false)
                      .set_check_mem_overlap(false)
                      .resize_outputs(false)
                      .declare_static_shape({n})
                      .add_output(items)
                      .build();
  [[maybe_unused]] detail::fork_join const loop(detail::fork_join::side::caller, &f);
  iterator.for_each(
      [&](char** data, std::int64_t const*, std::int64_t inner, std::int64_t outer) REDCO_UNSEEN_BY_THREAD_SANITIZER {
        [[maybe_unused]] detail::fork_join const part(detail::fork_join::side::part, &f);
        std::int64_t const begin = data[0] - &none;
        f(begin, begin + inner * outer);
      },
      grain);
}

}  // namespace redco::tensors
