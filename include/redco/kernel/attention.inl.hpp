#pragma once

#include <redco/kernel/attention.hpp>

#include <redco/kernel/cpu/attention.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace redco::kernel {

namespace detail {

inline void attention_check(bool good, char const* what, at::Tensor const& x) {
  if (good) return;
  throw error(exit_code::internal,
              c10::str("attention: ", what, "; got ",
                       x.defined() ? c10::str(x.scalar_type(), " ", x.sizes()) : std::string("no tensor")));
}

inline void check_attention(at::Tensor const& q, std::int64_t keys, attention_options const& o) {
  auto const t = q.scalar_type();
  attention_check(q.is_cpu() && (t == at::kFloat || t == at::kDouble || t == at::kBFloat16),
                  "queries must be f64, f32 or bf16 on the CPU", q);
  attention_check(o.heads > 0 && o.kv_heads > 0 && o.heads % o.kv_heads == 0, "kv_heads must divide heads", q);
  attention_check(o.dropout >= 0 && o.dropout < 1, "dropout must be at least 0 and below 1", q);
  attention_check(keys > 0, "there must be at least one key", q);
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

inline attention_options ready_options(attention_options o) {
  if (o.key_mask.defined()) o.key_mask = o.key_mask.contiguous();
  return o;
}

inline bool wants_gradient(at::Tensor const& x) {
  return at::GradMode::is_enabled() && x.defined() && x.requires_grad();
}

// A Function takes no undefined tensor.
inline std::optional<at::Tensor> maybe(at::Tensor const& x) { return x.defined() ? std::optional(x) : std::nullopt; }

inline at::Tensor with_dense_rows(at::Tensor const& x) { return x.stride(2) == 1 ? x : x.contiguous(); }

}  // namespace detail

REDCO_INLINE at::Tensor self_attention(at::Tensor const& qkv, attention_options const& options) {
  detail::attention_check(qkv.dim() == 3 && qkv.size(2) % (options.heads + 2 * options.kv_heads) == 0,
                          "qkv must be [B, T, (heads + 2 kv_heads) * D]", qkv);
  detail::check_attention(qkv, qkv.size(1), options);
  return detail::packed_attention::apply(detail::with_dense_rows(qkv), detail::maybe(options.bias),
                                         detail::ready_options(options), detail::wants_gradient(options.bias));
}

REDCO_INLINE at::Tensor cross_attention(at::Tensor const& q, at::Tensor const& k, at::Tensor const& v,
                                        attention_options const& options) {
  detail::attention_check(q.dim() == 3 && q.size(2) % options.heads == 0, "q must be [B, T, heads * D]", q);
  auto const fits = [&](at::Tensor const& x) {
    return x.dim() == 3 && x.scalar_type() == q.scalar_type() && x.size(0) == q.size(0) && x.size(1) == k.size(1) &&
           x.size(2) == q.size(2) / options.heads * options.kv_heads;
  };
  detail::attention_check(k.dim() == 3 && fits(k), "k must be [B, S, kv_heads * D] in q's type", k);
  detail::attention_check(fits(v), "v must be [B, S, kv_heads * D] in q's type", v);
  detail::check_attention(q, k.size(1), options);
  return detail::separate_attention::apply(detail::with_dense_rows(q), detail::with_dense_rows(k),
                                           detail::with_dense_rows(v), detail::maybe(options.bias),
                                           detail::ready_options(options), detail::wants_gradient(options.bias));
}

}  // namespace redco::kernel
