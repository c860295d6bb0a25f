#pragma once

#include <redco/kernel/attention.hpp>

#include <redco/kernel/composed/attention.hpp>
#include <redco/kernel/cpu/attention.hpp>
#include <redco/kernel/cuda/attention.hpp>
#include <redco/kernel/detail/attention_function.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/tensor/device.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cmath>
#include <cstdint>
#include <string>

namespace redco::kernel::detail {

inline void attention_check(bool good, char const* requirement, at::Tensor const& x) {
  if (good) return;
  throw error(exit_code::internal,
              c10::str("attention: ", requirement, "; got ",
                       x.defined() ? c10::str(x.scalar_type(), " ", x.sizes()) : std::string("no tensor")));
}

/// Throws `error` with exit code 65 unless each row of `positions` (int64 [B, T] in CPU memory)
/// counts from 0, and restarts only at 0.
inline void check_documents(at::Tensor const& positions) {
  auto const* const all = positions.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < positions.numel(); ++i) {
    std::int64_t const t = i % positions.size(1), next = t == 0 ? 0 : all[i - 1] + 1;
    if (all[i] == 0 || all[i] == next) continue;
    throw error(exit_code::data, "documents: token " + std::to_string(t) + " of row " +
                                     std::to_string(i / positions.size(1)) + " has position " + std::to_string(all[i]) +
                                     " in its document, and must have " + std::to_string(next) +
                                     ", or 0 at the start of a document: count the tokens of each document from 0");
  }
}

/// Returns true if there is no pattern of blocks, or one that the kernels can compute. `spare`:
/// keys after the position of the last query.
inline bool is_good_pattern(attention_options const& o, std::int64_t spare) {
  layers::block_pattern const& p = o.pattern;
  if (p.block == 0) return true;
  return o.causal && spare >= 0 && p.block > 0 && p.local > 0 && p.patterns > 0 && p.global >= 0 &&
         p.global <= p.local / p.patterns;
}

inline void check_attention(at::Tensor const& q, std::int64_t keys, attention_options const& o) {
  auto const t = q.scalar_type();
  attention_check(t == at::kFloat || t == at::kDouble || t == at::kBFloat16, "queries must be f64, f32 or bf16", q);
  attention_check(o.heads > 0 && o.kv_heads > 0 && o.heads % o.kv_heads == 0, "kv_heads must divide heads", q);
  attention_check(o.dropout >= 0 && o.dropout < 1, "dropout must be at least 0 and below 1", q);
  attention_check(o.soft_cap >= 0 && std::isfinite(o.soft_cap), "soft_cap must be a positive number, or 0", q);
  attention_check(keys > 0, "there must be at least one key", q);
  for (at::Tensor const& x : {o.key_mask, o.bias, o.documents, o.sinks})
    attention_check(!x.defined() || x.device() == q.device(),
                    "key_mask, bias, documents and sinks must be on the queries' device", x);
  attention_check(!o.sinks.defined() || o.sinks.sizes() == at::IntArrayRef{o.heads}, "sinks must be [H]", o.sinks);
  attention_check(is_good_pattern(o, keys - o.query0 - q.size(1)),
                  "a pattern of blocks needs the causal rule, a key for each position, and windows that its global "
                  "blocks fit",
                  q);
  if (o.documents.defined()) {
    attention_check(o.causal && o.query0 == 0 && keys == q.size(1), "documents need causal self-attention", q);
    attention_check(
        o.documents.scalar_type() == at::kLong && o.documents.sizes() == at::IntArrayRef{q.size(0), q.size(1)},
        "documents must be int64 [B, T]", o.documents);
    tensors::check_on_cpu(o.documents, check_documents);
  }
  if (o.key_mask.defined()) {
    attention_check(o.key_mask.scalar_type() == at::kBool && o.key_mask.sizes() == at::IntArrayRef{q.size(0), keys},
                    "key_mask must be bool [B, S]", o.key_mask);
  }
  if (o.bias.defined() && o.bias.dim() == 2) {
    std::int64_t const least = o.distance0 - o.query0 - (q.size(1) - 1), most = o.distance0 - o.query0 + keys - 1;
    attention_check(o.bias.size(0) == o.heads && least >= 0 && most < o.bias.size(1),
                    "a bias by distance must be [H, all distances]", o.bias);
  } else if (o.bias.defined()) {
    attention_check(o.bias.dim() == 4 && (o.bias.size(0) == 1 || o.bias.size(0) == q.size(0)) &&
                        o.bias.sizes().slice(1) == at::IntArrayRef{o.heads, q.size(1), keys},
                    "bias must be [1 or B, H, T, S]", o.bias);
  }
}

}  // namespace redco::kernel::detail

namespace redco::kernel {

REDCO_INLINE at::Tensor self_attention(at::Tensor const& qkv, attention_options const& options) {
  detail::attention_check(qkv.dim() == 3 && qkv.size(2) % (options.heads + 2 * options.kv_heads) == 0,
                          "qkv must be [B, T, (heads + 2 kv_heads) * D]", qkv);
  detail::check_attention(qkv, qkv.size(1), options);
  return detail::dispatch(
      qkv, [&] { return detail::self_attention_by<cuda::attention_kernels>(qkv, options); },
      [&] { return detail::self_attention_by<cpu::attention_kernels>(qkv, options); },
      [&] { return composed::self_attention(qkv, options); });
}

REDCO_INLINE at::Tensor cross_attention(at::Tensor const& q, at::Tensor const& k, at::Tensor const& v,
                                        attention_options const& options) {
  detail::attention_check(q.dim() == 3 && q.size(2) % options.heads == 0, "q must be [B, T, heads * D]", q);
  auto const fits = [&](at::Tensor const& x) {
    return x.dim() == 3 && x.scalar_type() == q.scalar_type() && x.device() == q.device() && x.size(0) == q.size(0) &&
           x.size(1) == k.size(1) && x.size(2) == q.size(2) / options.heads * options.kv_heads;
  };
  detail::attention_check(k.dim() == 3 && fits(k), "k must be [B, S, kv_heads * D] in q's type, on its device", k);
  detail::attention_check(fits(v), "v must be [B, S, kv_heads * D] in q's type, on its device", v);
  detail::check_attention(q, k.size(1), options);
  return detail::dispatch(
      q, [&] { return detail::cross_attention_by<cuda::attention_kernels>(q, k, v, options); },
      [&] { return detail::cross_attention_by<cpu::attention_kernels>(q, k, v, options); },
      [&] { return composed::attention(q, k, v, options); });
}

}  // namespace redco::kernel

namespace redco::kernel::detail {

inline void gathered_check(bool good, char const* requirement) {
  if (!good) throw error(exit_code::internal, c10::str("attention to a cache: ", requirement));
}

inline void check_gathered(at::Tensor const& q, gathered_keys const& seen, attention_options const& o) {
  gathered_check(q.dim() == 3 && o.heads > 0 && o.kv_heads > 0 && o.heads % o.kv_heads == 0 && q.size(2) % o.heads == 0,
                 "q must be [R, T, heads * D], and kv_heads divide heads");
  for (at::Tensor const& x : {seen.keys, seen.values})
    gathered_check(x.dim() == 2 && x.scalar_type() == q.scalar_type() && x.stride(1) == 1 &&
                       x.size(1) == q.size(2) / o.heads * o.kv_heads,
                   "keys and values must be [entries, kv_heads * D] in q's type");
  gathered_check(seen.indices.dim() == 2 && seen.indices.scalar_type() == at::kInt &&
                     seen.indices.size(0) == q.size(0) && seen.indices.size(1) > 0 && seen.indices.stride(1) == 1,
                 "indices must be int32 [R, S]");
  gathered_check(!o.key_mask.defined() || (o.key_mask.scalar_type() == at::kBool && o.key_mask.stride(1) == 1 &&
                                           o.key_mask.sizes() == seen.indices.sizes()),
                 "key_mask must be bool [R, S]");
  gathered_check(
      !o.bias.defined() || (o.bias.dim() == 2 && o.bias.size(0) == o.heads && o.distance0 >= o.query0 + q.size(1) - 1 &&
                            o.distance0 - o.query0 + seen.indices.size(1) - 1 < o.bias.size(1)),
      "a bias must be [H, all distances]");
  for (at::Tensor const& x : {seen.keys, seen.values, o.key_mask, o.bias, o.sinks})
    gathered_check(!x.defined() || x.device() == q.device(),
                   "keys, values, key_mask, bias and sinks must be on the device of q");
  gathered_check(!o.sinks.defined() || o.sinks.sizes() == at::IntArrayRef{o.heads}, "sinks must be [H]");
  gathered_check(is_good_pattern(o, seen.indices.size(1) - o.query0 - q.size(1)),
                 "a pattern of blocks needs the causal rule and a key for each position");
  gathered_check(o.dropout == 0 && !o.documents.defined(), "it has no dropout and no documents");
}

}  // namespace redco::kernel::detail

namespace redco::kernel {

REDCO_INLINE at::Tensor gathered_attention(at::Tensor const& q, gathered_keys const& seen,
                                           attention_options const& options) {
  at::NoGradGuard const no_grad;
  detail::check_gathered(q, seen, options);
  // Code for other devices first copies the keys and values of each row to a contiguous tensor.
  auto const keys = [&] { return composed::gathered(seen.keys, seen.indices); };
  auto const values = [&] { return composed::gathered(seen.values, seen.indices); };
  return detail::dispatch(
      q, [&] { return detail::cross_attention_by<cuda::attention_kernels>(q, keys(), values(), options); },
      [&] { return cpu::gathered_attention(q, seen, options); },
      [&] { return composed::attention(q, keys(), values(), options); });
}

}  // namespace redco::kernel
