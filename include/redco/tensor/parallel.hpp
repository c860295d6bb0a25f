#pragma once

#include <redco/tensor/detail/fork_join.hpp>
#include <redco/tensor/function_ref.hpp>
#include <redco/tensor/torch.hpp>

#include <ATen/Parallel.h>

#include <cstdint>

namespace redco {

/// Whether `parallel` would not share work with other threads here.
inline bool computes_alone() { return at::get_num_threads() == 1 || at::in_parallel_region(); }

/// Calls f(begin, end) on parts of [0, n) from the threads that ATen's own operators use: at most at::get_num_threads()
/// of the caller, none smaller than `grain`. In such a part ATen and BLAS compute alone. f touches no autograd state,
/// and what it computes must not depend on the cut. An exception in f reaches the caller.
///
/// at::parallel_for is serial in a program built without -fopenmp; the loop inside libtorch behind for_each is not, and
/// a pool beside OpenMP's would share the cores with its spinning threads.
inline void parallel(std::int64_t n, std::int64_t grain, function_ref<void(std::int64_t, std::int64_t)> f) {
  if (n <= 0) return;
  if (n <= grain) return f(0, n);
  // for_each hands out addresses: an element of one byte at address i stands for index i. None is read.
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

}  // namespace redco
