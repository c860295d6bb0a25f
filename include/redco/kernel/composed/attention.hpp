#pragma once

#include <redco/kernel/attention.hpp>
#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/composed/dropout.hpp>
#include <redco/kernel/composed/widened.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/layer/block_pattern.hpp>
#include <redco/random/random_words.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace redco::kernel::composed {

/// Returns the factors [B, H, T, S] by which dropout multiplies the softmax: each is 0 or 1 / (1 -
/// dropout).
inline at::Tensor attention_factors(attention_options const& o, std::int64_t batch, std::int64_t queries,
                                    std::int64_t keys) {
  auto const words_of = [&](std::int64_t row, std::uint32_t* words) {
    std::int64_t const query = row % queries, head = row / queries % o.heads, example = row / queries / o.heads;
    random::random_words(words, o.key0, keys, static_cast<std::uint32_t>(o.key0 + o.query0 + query),
                         static_cast<std::uint32_t>(o.head0 + head), static_cast<std::uint32_t>(o.row0 + example),
                         o.key);
  };
  return keyed_factors(batch * o.heads * queries, keys, o.dropped_below(), 1 / (1 - o.dropout), words_of)
      .view({batch, o.heads, queries, keys});
}

/// Returns the bias that is added to the scores, [1 or B, H, T, S]. A bias given per distance, [H,
/// distances], is expanded.
inline at::Tensor attention_bias(attention_options const& o, std::int64_t queries, std::int64_t keys) {
  at::Tensor const bias = widened(o.bias);
  if (bias.dim() == 4) return bias;
  auto const integers = bias.options().dtype(at::kLong);
  at::Tensor const distance = at::arange(keys, integers).unsqueeze(0) - at::arange(queries, integers).unsqueeze(1);
  return bias.index_select(1, (distance + (o.distance0 - o.query0)).flatten()).view({1, o.heads, queries, keys});
}

/// Returns the sinks as one more column of the scores [B, H, T, S].
inline at::Tensor sink_scores(attention_options const& o, at::Tensor const& scores) {
  return widened(o.sinks).view({1, o.heads, 1, 1}).expand({scores.size(0), o.heads, scores.size(2), 1});
}

/// Returns the mask [1, H, T, S] of keys that the pattern of blocks allows to each query; true:
/// allowed.
inline at::Tensor pattern_mask(attention_options const& o, std::int64_t queries, std::int64_t keys,
                               at::TensorOptions const& integers) {
  layers::block_pattern const& p = o.pattern;
  auto const block_of = [&](std::int64_t count, std::int64_t from) {
    return at::arange(from, from + count, integers).floor_divide(p.block);
  };
  at::Tensor const i = block_of(queries, o.key0 + o.query0).unsqueeze(1), j = block_of(keys, o.key0).unsqueeze(0);
  at::Tensor const near = p.sliding ? j.gt(i - p.local) : j.floor_divide(p.local).eq(i.floor_divide(p.local));
  at::Tensor const first =
      at::arange(o.head0, o.head0 + o.heads, integers).remainder(p.patterns).mul(p.global).view({o.heads, 1, 1});
  at::Tensor const from_end = (p.local - 1 - j.remainder(p.local)).unsqueeze(0);
  at::Tensor const global = from_end.ge(first).logical_and(from_end.lt(first + p.global));
  return near.unsqueeze(0).logical_or(global).unsqueeze(0);
}

/// Returns the mask [1 or B, 1 or H, T, S] of keys that position, window, pattern and documents
/// allow to each query; true: allowed.
inline at::Tensor allowed_keys(attention_options const& o, std::int64_t queries, std::int64_t keys,
                               at::TensorOptions const& like) {
  at::TensorOptions const integers = like.dtype(at::kLong);
  at::Tensor seen = at::ones({1, 1, queries, keys}, like.dtype(at::kBool));
  if (o.causal) seen = seen.tril(o.query0);
  if (o.window > 0) seen = seen.triu(o.query0 + 1 - o.window);
  if (o.pattern.is_sparse()) seen = seen.logical_and(pattern_mask(o, queries, keys, integers));
  if (!o.documents.defined()) return seen;
  at::Tensor const start = at::arange(o.query0, o.query0 + queries, integers) - o.documents;
  return seen.logical_and(at::arange(keys, integers).ge(start.unsqueeze(2)).unsqueeze(1));
}

/// Inputs of softmax, [B, H, T, S], and a mask of the keys that each query sees. Inputs of hidden
/// keys are -infinity. Inputs of a query that sees no key are constants.
struct adjusted_scores {
  at::Tensor z, seen;
};

/// Returns the inputs of softmax for queries q [B, H, T, D] and keys k [B, H, S, D].
inline adjusted_scores adjusted_scores_of(at::Tensor const& q, at::Tensor const& k, attention_options const& o) {
  std::int64_t const queries = q.size(2), keys = k.size(2);
  at::Tensor z = at::matmul(q, k.transpose(2, 3)) * o.scale_of(q.size(3));
  if (o.soft_cap > 0) z = (z / o.soft_cap).tanh() * o.soft_cap;
  if (o.bias.defined()) z = z + attention_bias(o, queries, keys);

  at::Tensor const allowed = allowed_keys(o, queries, keys, q.options());
  at::Tensor const seen = o.key_mask.defined() ? allowed.logical_and(o.key_mask.unsqueeze(1).unsqueeze(1)) : allowed;
  at::Tensor const never = at::full({}, -std::numeric_limits<double>::infinity(), q.options());
  if (o.partial && !o.blind.defined()) return {at::where(seen, z, never), seen};
  // True at the keys allowed to a query whose keys are all masked; these keys get equal weights.
  at::Tensor alike = seen.any(-1, true).logical_not().logical_and(allowed);
  if (o.partial) alike = alike.logical_and(o.blind.unsqueeze(3));
  return {at::where(seen, z, at::where(alike, at::zeros({}, q.options()), never)), seen};
}

/// Returns x [B, rows, heads * D] as a view [B, heads, rows, D] in the type of sums.
inline at::Tensor wide_heads(at::Tensor const& x, std::int64_t heads) {
  return widened(x).unflatten(2, {heads, -1}).transpose(1, 2);
}

/// Returns the keys or values x [B, S, Hkv D] that each query head reads, [B, H, S, D].
inline at::Tensor for_query_heads(at::Tensor const& x, attention_options const& o) {
  return wide_heads(x, o.kv_heads).repeat_interleave(o.heads / o.kv_heads, 1);
}

/// Computes attention by its definition with ATen operators, as the reference. Needs memory for all
/// probabilities [B, H, T, S].
inline at::Tensor attention(at::Tensor const& q_in, at::Tensor const& k_in, at::Tensor const& v_in,
                            attention_options const& o) {
  std::int64_t const keys = k_in.size(1);
  at::Tensor scores = adjusted_scores_of(wide_heads(q_in, o.heads), for_query_heads(k_in, o), o).z;
  if (o.sinks.defined()) scores = at::cat({scores, sink_scores(o, scores)}, -1);
  at::Tensor p = scores.softmax(-1).narrow(-1, 0, keys);
  if (o.dropout != 0) p = p * attention_factors(o, p.size(0), p.size(2), keys).to(p.options());
  return at::matmul(p, for_query_heads(v_in, o)).transpose(1, 2).flatten(2).to(q_in.scalar_type());
}

/// Returns rows of x [entries, width] as a tensor [R, S, width]. `indices` [R, S] holds the indices
/// of the rows.
inline at::Tensor gathered(at::Tensor const& x, at::Tensor const& indices) {
  return x.index_select(0, indices.to(x.device()).flatten()).view({indices.size(0), indices.size(1), x.size(1)});
}

/// Computes self-attention of the packed tensor qkv by its definition with ATen operators, as the
/// reference.
inline at::Tensor self_attention(at::Tensor const& qkv, attention_options const& o) {
  std::int64_t const d = qkv.size(2) / (o.heads + 2 * o.kv_heads), of_keys = o.kv_heads * d;
  auto const parts = qkv.split_with_sizes({o.heads * d, of_keys, of_keys}, 2);
  return attention(parts[0], parts[1], parts[2], o);
}

}  // namespace redco::kernel::composed
