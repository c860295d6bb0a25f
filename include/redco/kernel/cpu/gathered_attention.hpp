#pragma once

#include <redco/kernel/cpu/attention.hpp>
#include <redco/kernel/cpu/gathered_rows.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/kernel/cpu/with_element.hpp>
#include <redco/kernel/detail/attention_function.hpp>
#include <redco/kernel/gathered_attention.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>

namespace redco::kernel::cpu {

template <class T>
void run_gathered(at::Tensor const& q, gathered_keys const& seen, attention_options const& o, at::Tensor const& bias,
                  at::Tensor const& out) {
  gathered_problem<T> a{.queries = q.size(1),
                        .keys = seen.places.size(1),
                        .width = q.size(2) / o.heads,
                        .options = o,
                        .q = read_heads<T>(q),
                        .k = seen.keys.const_data_ptr<T>(),
                        .v = seen.values.const_data_ptr<T>(),
                        .k_stride = seen.keys.stride(0),
                        .v_stride = seen.values.stride(0),
                        .places = seen.places.const_data_ptr<std::int32_t>(),
                        .places_stride = seen.places.stride(0),
                        .out = out.mutable_data_ptr<T>()};
  if (o.key_mask.defined()) a.mask = o.key_mask.const_data_ptr<bool>(), a.mask_stride = o.key_mask.stride(0);
  if (bias.defined()) a.bias = bias.const_data_ptr<sum_of<T>>(), a.distances = bias.size(1);
  // A part covers whole key-value heads; if there are few rows, heads are split over threads too.
  std::int64_t const tasks = q.size(0) * q.size(1);
  std::int64_t const parts = std::min(o.kv_heads, std::max<std::int64_t>(1, 4 / tasks));
  tensors::parallel(tasks * parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto task = begin; task < end; ++task) {
      std::int64_t const row = task / parts, part = task % parts, group = a.group();
      std::int64_t const h0 = o.kv_heads * part / parts * group, h1 = o.kv_heads * (part + 1) / parts * group;
      with_lanes<T>(gathered_task<T>{a, row / a.queries, row % a.queries, h0, h1 - h0});
    }
  });
}

inline at::Tensor gathered_attention(at::Tensor const& q_any, gathered_keys const& seen, attention_options const& o) {
  at::Tensor const q = detail::with_dense_rows(q_any);
  at::Tensor const out = at::empty({q.size(0), q.size(1), q.size(2)}, q.options());
  at::Tensor const bias = in_sum_type(o.bias, q.scalar_type());
  with_element(q.scalar_type(), [&](auto element) { run_gathered<decltype(element)>(q, seen, o, bias, out); });
  return out;
}

}  // namespace redco::kernel::cpu
