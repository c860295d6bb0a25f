#pragma once

#include <redco/kernel/cpu/attention_backward.hpp>
#include <redco/kernel/cpu/attention_forward.hpp>
#include <redco/kernel/cpu/attention_problem.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/tensor/parallel.hpp>

#include <cstdint>

namespace redco::kernel::cpu {

/// Computes attention of all heads of all examples, in parallel over heads and examples.
template <class T>
void run_attention_forward(attention_problem<T> const& a) {
  tensors::parallel(a.batch * a.heads(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto task = begin; task < end; ++task) {
      with_lanes<T>(attention_forward_task<T>{a, task / a.heads(), task % a.heads()});
    }
  });
}

/// Computes the gradients of attention for all heads of all examples. If examples share a bias, the
/// bias gradient is a sum over examples. Threads then divide the work by heads only, so that no two
/// threads write to one element.
template <class T>
void run_attention_backward(attention_problem<T> const& a) {
  auto const groups = a.options.kv_heads;
  if (a.dbias != nullptr && a.bias_shared) {
    tensors::parallel(groups, 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto g = begin; g < end; ++g) {
        for (std::int64_t b = 0; b < a.batch; ++b) with_lanes<T>(attention_backward_task<T>{a, b, g});
      }
    });
    return;
  }
  tensors::parallel(a.batch * groups, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto task = begin; task < end; ++task) {
      with_lanes<T>(attention_backward_task<T>{a, task / groups, task % groups});
    }
  });
}

}  // namespace redco::kernel::cpu
