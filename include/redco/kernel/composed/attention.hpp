#pragma once

#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/cpu/attention_problem.hpp>

#include <redco/tensor/torch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace redco::kernel::detail {

struct attention_gradients {
  at::Tensor q, k, v, bias;
};

/// The factors of dropout as a tensor [B, H, T, S].
template <class Sum>
at::Tensor attention_keep(attention_options const& options, std::int64_t batch, std::int64_t queries,
                          std::int64_t keys) {
  auto out = at::empty({batch, options.heads, queries, keys}, c10::CppTypeToScalarType<Sum>::value);
  using element = std::conditional_t<std::is_same_v<Sum, double>, double, float>;
  attention_problem<element> const a{.batch = batch,
                                     .queries = queries,
                                     .keys = keys,
                                     .width = 1,
                                     .options = options,
                                     .q = {},
                                     .k = {},
                                     .v = {},
                                     .out = {},
                                     .lse = nullptr};
  std::vector<std::uint32_t> words(static_cast<std::size_t>(a.stride()));
  std::vector<Sum> factors(words.size());
  auto* to = out.template mutable_data_ptr<Sum>();
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < options.heads; ++h) {
      for (std::int64_t i = 0; i < queries; ++i, to += keys)
        std::copy_n(keep_factors<4>(a, words.data(), factors.data(), keys, b, h, i), keys, to);
    }
  }
  return out;
}

/// [B, rows, heads * D] as [B, heads, rows, D], in the type of sums.
inline at::Tensor by_head(at::Tensor const& x, std::int64_t heads, at::ScalarType sum) {
  return x.unflatten(2, {heads, -1}).transpose(1, 2).to(sum);
}

/// Gradients of attention from ATen operators only, so that they can be differentiated again: for create_graph. Holds
/// all probabilities, as no faster formula could.
inline attention_gradients attention_composed(at::Tensor const& q_in, at::Tensor const& k_in, at::Tensor const& v_in,
                                              at::Tensor const& bias, at::Tensor const& mask, at::Tensor const& grad_in,
                                              attention_options const& o) {
  auto const type = q_in.scalar_type(), sum = type == at::kDouble ? at::kDouble : at::kFloat;
  auto const batch = q_in.size(0), queries = q_in.size(1), keys = k_in.size(1), group = o.heads / o.kv_heads;
  auto const q = by_head(q_in, o.heads, sum), grad = by_head(grad_in, o.heads, sum);
  auto const k = by_head(k_in, o.kv_heads, sum).repeat_interleave(group, 1);
  auto const v = by_head(v_in, o.kv_heads, sum).repeat_interleave(group, 1);
  auto const scale = o.scale != 0 ? o.scale : 1 / std::sqrt(static_cast<double>(q.size(3)));

  auto seen = at::ones({1, 1, queries, keys}, at::kBool);
  if (o.causal) seen = seen.tril(o.query0);
  if (o.window > 0) seen = seen.triu(o.query0 + 1 - o.window);
  auto const allowed = mask.defined() ? seen.logical_and(mask.unsqueeze(1).unsqueeze(1)) : seen;
  auto const blind = allowed.any(-1, true).logical_not();  // no key may be seen: uniform
  auto const infinity = std::numeric_limits<double>::infinity();
  auto const constant =
      at::where(blind.logical_and(seen), at::zeros({}, q.options()), at::full({}, -infinity, q.options()));
  auto scores = at::matmul(q, k.transpose(2, 3)) * scale;
  bool const by_distance = bias.defined() && bias.dim() == 2;
  at::Tensor column;  // of the distance between each query and key
  if (by_distance) {
    column = (at::arange(keys).unsqueeze(0) - at::arange(queries).unsqueeze(1) + (o.distance0 - o.query0)).flatten();
    scores = scores + bias.to(sum).index_select(1, column).view({1, o.heads, queries, keys});
  } else if (bias.defined()) {
    scores = scores + bias.to(sum);
  }
  auto const p = at::where(allowed, scores, constant).softmax(-1);

  at::Tensor keep;
  if (o.dropout != 0) {
    keep = sum == at::kDouble ? attention_keep<double>(o, batch, queries, keys)
                              : attention_keep<float>(o, batch, queries, keys);
  }
  auto const dv = at::matmul((keep.defined() ? p * keep : p).transpose(2, 3), grad);
  auto dp = at::matmul(grad, v.transpose(2, 3));
  if (keep.defined()) dp = dp * keep;
  auto const ds = at::where(allowed, p * (dp - (dp * p).sum(-1, true)), at::zeros({}, p.options()));
  auto const merge = [&](at::Tensor const& x) { return x.transpose(1, 2).flatten(2).to(type); };
  auto const merge_groups = [&](at::Tensor const& x) { return merge(x.unflatten(1, {o.kv_heads, group}).sum(2)); };
  attention_gradients out{
      merge(at::matmul(ds, k) * scale), merge_groups(at::matmul(ds.transpose(2, 3), q) * scale), merge_groups(dv), {}};
  if (by_distance) {
    auto const none = at::zeros({o.heads, bias.size(1)}, ds.options());
    out.bias = none.index_add(1, column, ds.sum(0).flatten(1)).to(bias.scalar_type());
  } else if (bias.defined()) {
    out.bias = (bias.size(0) == 1 ? ds.sum(0, true) : ds).to(bias.scalar_type());
  }
  return out;
}

}  // namespace redco::kernel::detail
