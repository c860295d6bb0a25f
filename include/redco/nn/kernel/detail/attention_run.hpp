#pragma once

#include <redco/nn/kernel/detail/attention_backward.hpp>
#include <redco/nn/kernel/detail/attention_forward.hpp>
#include <redco/nn/kernel/detail/attention_problem.hpp>
#include <redco/nn/kernel/detail/parallel.hpp>

#include <cstdint>

namespace redco::detail {

template <class T>
using attention_head = void (*)(attention_problem<T> const&, std::int64_t, std::int64_t);

/// The widest of three that this processor has.
template <class T>
attention_head<T> widest(attention_head<T> base, attention_head<T> avx2, attention_head<T> avx512) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2;
#endif
  return base;
}

template <class T>
attention_head<T> forward_head() {
#if defined(__x86_64__)
  return widest<T>(attention_forward_base<T>, attention_forward_avx2<T>, attention_forward_avx512<T>);
#else
  return attention_forward_base<T>;
#endif
}

template <class T>
attention_head<T> backward_head() {
#if defined(__x86_64__)
  return widest<T>(attention_backward_base<T>, attention_backward_avx2<T>, attention_backward_avx512<T>);
#else
  return attention_backward_base<T>;
#endif
}

/// All heads of all examples, on several threads.
template <class T>
void run_attention_forward(attention_problem<T> const& a) {
  static auto const head = forward_head<T>();
  parallel(a.batch * a.heads(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto task = begin; task < end; ++task) head(a, task / a.heads(), task % a.heads());
  });
}

/// The same for the gradients. A bias shared by the examples collects from all: its heads are cut, its examples are not.
template <class T>
void run_attention_backward(attention_problem<T> const& a) {
  static auto const head = backward_head<T>();
  auto const groups = a.options.kv_heads;
  if (a.dbias != nullptr && a.bias_shared) {
    parallel(groups, 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto g = begin; g < end; ++g) {
        for (std::int64_t b = 0; b < a.batch; ++b) head(a, b, g);
      }
    });
    return;
  }
  parallel(a.batch * groups, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto task = begin; task < end; ++task) head(a, task / groups, task % groups);
  });
}

}  // namespace redco::detail
