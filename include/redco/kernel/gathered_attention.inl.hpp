#pragma once

#include <redco/kernel/gathered_attention.hpp>

#include <redco/kernel/attention.hpp>
#include <redco/kernel/cpu/attention.hpp>
#include <redco/kernel/cpu/gathered_rows.hpp>
#include <redco/kernel/cpu/lanes.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstdint>

namespace redco::kernel {

namespace detail {

inline void gathered_check(bool good, char const* what) {
  if (!good) throw error(exit_code::internal, c10::str("attention to a cache: ", what));
}

inline void check_gathered(at::Tensor const& q, gathered_keys const& seen, attention_options const& o) {
  gathered_check(q.dim() == 3 && q.is_cpu() && o.heads > 0 && o.kv_heads > 0 && o.heads % o.kv_heads == 0 &&
                     q.size(2) % o.heads == 0,
                 "q must be [R, T, heads * D] on the CPU, and kv_heads divide heads");
  for (at::Tensor const& x : {seen.keys, seen.values})
    gathered_check(x.dim() == 2 && x.scalar_type() == q.scalar_type() && x.stride(1) == 1 &&
                       x.size(1) == q.size(2) / o.heads * o.kv_heads,
                   "keys and values must be [entries, kv_heads * D] in q's type");
  gathered_check(seen.places.dim() == 2 && seen.places.scalar_type() == at::kInt && seen.places.size(0) == q.size(0) &&
                     seen.places.size(1) > 0 && seen.places.stride(1) == 1,
                 "places must be int32 [R, S]");
  gathered_check(!o.key_mask.defined() || (o.key_mask.scalar_type() == at::kBool && o.key_mask.stride(1) == 1 &&
                                           o.key_mask.sizes() == seen.places.sizes()),
                 "key_mask must be bool [R, S]");
  gathered_check(
      !o.bias.defined() || (o.bias.dim() == 2 && o.bias.size(0) == o.heads && o.distance0 >= o.query0 + q.size(1) - 1 &&
                            o.distance0 - o.query0 + seen.places.size(1) - 1 < o.bias.size(1)),
      "a bias must be [H, all distances]");
  gathered_check(o.dropout == 0, "it has no dropout");
}

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
  // A part reads whole runs of key-value heads; few rows are cut between heads.
  std::int64_t const tasks = q.size(0) * q.size(1);
  std::int64_t const parts = std::min(o.kv_heads, std::max<std::int64_t>(1, 4 / tasks));
  redco::detail::parallel(tasks * parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto task = begin; task < end; ++task) {
      std::int64_t const row = task / parts, part = task % parts, group = a.group();
      std::int64_t const h0 = o.kv_heads * part / parts * group, h1 = o.kv_heads * (part + 1) / parts * group;
      with_lanes<T>(gathered_task<T>{a, row / a.queries, row % a.queries, h0, h1 - h0});
    }
  });
}

}  // namespace detail

REDCO_INLINE at::Tensor gathered_attention(at::Tensor const& q_in, gathered_keys const& seen,
                                           attention_options const& options) {
  at::NoGradGuard const no_grad;
  detail::check_gathered(q_in, seen, options);
  at::Tensor const q = detail::with_dense_rows(q_in);
  at::Tensor const out = at::empty({q.size(0), q.size(1), q.size(2)}, q.options());
  at::Tensor const bias = detail::in_sum_type(options.bias, q.scalar_type());
  detail::with_element(q.scalar_type(),
                       [&](auto element) { detail::run_gathered<decltype(element)>(q, seen, options, bias, out); });
  return out;
}

}  // namespace redco::kernel
