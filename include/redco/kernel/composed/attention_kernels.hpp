#pragma once

#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/composed/attention.hpp>
#include <redco/kernel/detail/attention_function.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <limits>

namespace redco::kernel::composed {

/// Attention by ATen operators, with the functions of cpu::attention_kernels, for partial calls.
/// Backward takes the result and the log-sum-exp of all keys. Supports no bias and no sinks.
struct attention_kernels {
  static detail::attention_result forward(detail::attention_tensors const& t, attention_options const& options) {
    attention_options const o = masked(options, t);
    at::Tensor const z = scores(t, o).z, lse = z.logsumexp(-1);
    at::Tensor const p = z.softmax(-1).masked_fill(lse.eq(-std::numeric_limits<double>::infinity()).unsqueeze(-1), 0);
    at::Tensor const out = dropped(p, o).matmul(for_query_heads(t.v, o));
    return {out.transpose(1, 2).flatten(2).to(t.q.scalar_type()), lse};
  }

  static detail::attention_extras backward(detail::attention_tensors const& t, attention_options const& options,
                                           detail::attention_gradient const& gradient,
                                           detail::attention_tensors const& into) {
    attention_options const o = masked(options, t);
    auto const [z, seen] = scores(t, o);
    at::Tensor const p = (z - gradient.made.lse.unsqueeze(-1)).exp(), g = wide_heads(gradient.of_out, o.heads),
                     total = (g * wide_heads(gradient.made.out, o.heads)).sum(-1, true);
    at::Tensor dz = p * (dropped(g.matmul(for_query_heads(t.v, o).transpose(2, 3)), o) - total);
    if (o.soft_cap > 0) dz = dz * (1 - (z / o.soft_cap).clamp_min(-1).square());
    dz = dz.masked_fill(seen.logical_not(), 0) * o.scale_of(g.size(3));
    put(dz.matmul(for_query_heads(t.k, o)), into.q);
    put(of_groups(dz.transpose(2, 3).matmul(wide_heads(t.q, o.heads)), o), into.k);
    put(of_groups(dropped(p, o).transpose(2, 3).matmul(g), o), into.v);
    return {};
  }

 private:
  static attention_options masked(attention_options o, detail::attention_tensors const& t) {
    o.key_mask = t.mask;
    return o;
  }
  static adjusted_scores scores(detail::attention_tensors const& t, attention_options const& o) {
    return adjusted_scores_of(wide_heads(t.q, o.heads), for_query_heads(t.k, o), o);
  }
  static at::Tensor dropped(at::Tensor const& p, attention_options const& o) {
    if (o.dropout == 0) return p;
    return p * attention_factors(o, p.size(0), p.size(2), p.size(3)).to(p.options());
  }
  static at::Tensor of_groups(at::Tensor const& x, attention_options const& o) {
    return x.unflatten(1, {o.kv_heads, o.heads / o.kv_heads}).sum(2);
  }
  static void put(at::Tensor const& x, at::Tensor const& to) { to.copy_(x.transpose(1, 2).flatten(2)); }
};

}  // namespace redco::kernel::composed
