#pragma once

#include <redco/kernel/gathered_attention.hpp>

#include <redco/kernel/composed/gathered_attention.hpp>
#include <redco/kernel/cpu/gathered_attention.hpp>
#include <redco/kernel/cuda/attention.hpp>
#include <redco/kernel/detail/attention_function.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

namespace redco::kernel::detail {

inline void gathered_check(bool good, char const* what) {
  if (!good) throw error(exit_code::internal, c10::str("attention to a cache: ", what));
}

inline void check_gathered(at::Tensor const& q, gathered_keys const& seen, attention_options const& o) {
  gathered_check(q.dim() == 3 && o.heads > 0 && o.kv_heads > 0 && o.heads % o.kv_heads == 0 && q.size(2) % o.heads == 0,
                 "q must be [R, T, heads * D], and kv_heads divide heads");
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
  for (at::Tensor const& x : {seen.keys, seen.values, o.key_mask, o.bias})
    gathered_check(!x.defined() || x.device() == q.device(),
                   "keys, values, key_mask and bias must be on the device of q");
  gathered_check(o.dropout == 0, "it has no dropout");
}

}  // namespace redco::kernel::detail

namespace redco::kernel {

REDCO_INLINE at::Tensor gathered_attention(at::Tensor const& q, gathered_keys const& seen,
                                           attention_options const& options) {
  at::NoGradGuard const no_grad;
  detail::check_gathered(q, seen, options);
  return detail::dispatch(
      q,
      [&] {
        return detail::cross_attention_by<cuda::attention_twin>(q, composed::gathered(seen.keys, seen.places),
                                                                composed::gathered(seen.values, seen.places), options);
      },
      [&] { return cpu::gathered_attention(q, seen, options); },
      [&] { return composed::gathered_attention(q, seen, options); });
}

}  // namespace redco::kernel
