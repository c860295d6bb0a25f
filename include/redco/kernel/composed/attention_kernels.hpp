#pragma once

#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/composed/widened.hpp>
#include <redco/kernel/detail/attention_function.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <limits>

namespace redco::kernel::composed {

/// Attention by ATen operators, with the functions of cpu::attention_kernels. Its backward takes
/// the result and log-sum-exp of more keys than it is given.
struct attention_kernels {
  static detail::attention_result forward(detail::attention_tensors const& t, attention_options const& o) {
    at::Tensor const z = scores(t, o, nullptr);
    at::Tensor const out = z.softmax(-1).matmul(heads_of(t.v, o));
    return {out.transpose(1, 2).flatten(2).to(t.q.scalar_type()), z.logsumexp(-1)};
  }

  static detail::attention_extras backward(detail::attention_tensors const& t, attention_options const& o,
                                           detail::attention_gradient const& gradient,
                                           detail::attention_tensors const& into) {
    at::Tensor slope;
    at::Tensor const z = scores(t, o, &slope), p = (z - gradient.made.lse.unsqueeze(-1)).exp();
    at::Tensor const g = by_head(gradient.of_out, o.heads),
                     total = (g * by_head(gradient.made.out, o.heads)).sum(-1, true);
    at::Tensor dz = p * (g.matmul(heads_of(t.v, o).transpose(2, 3)) - total) * o.scale_of(g.size(3));
    if (slope.defined()) dz = dz * slope;
    put(dz.matmul(heads_of(t.k, o)), into.q);
    put(of_groups(dz.transpose(2, 3).matmul(by_head(t.q, o.heads)), o), into.k);
    put(of_groups(p.transpose(2, 3).matmul(g), o), into.v);
    return {};
  }

 private:
  static at::Tensor by_head(at::Tensor const& x, std::int64_t heads) {
    return widened(x).unflatten(2, {heads, -1}).transpose(1, 2);
  }
  static at::Tensor heads_of(at::Tensor const& keys, attention_options const& o) {
    return by_head(keys, o.kv_heads).repeat_interleave(o.heads / o.kv_heads, 1);
  }
  static at::Tensor of_groups(at::Tensor const& x, attention_options const& o) {
    return x.unflatten(1, {o.kv_heads, o.heads / o.kv_heads}).sum(2);
  }
  static void put(at::Tensor const& x, at::Tensor const& to) { to.copy_(x.transpose(1, 2).flatten(2)); }

  /// Returns the scores [B, H, T, S], -infinity at hidden keys. Sets `slope` to the derivative of
  /// the soft cap, if there is one and `slope` is not null.
  static at::Tensor scores(detail::attention_tensors const& t, attention_options const& o, at::Tensor* slope) {
    at::Tensor const q = by_head(t.q, o.heads);
    at::Tensor z = q.matmul(heads_of(t.k, o).transpose(2, 3)) * o.scale_of(q.size(3));
    if (o.soft_cap > 0) {
      at::Tensor const bounded = (z / o.soft_cap).tanh();
      if (slope != nullptr) *slope = 1 - bounded.square();
      z = bounded * o.soft_cap;
    }
    at::Tensor seen = at::ones({q.size(2), z.size(3)}, q.options().dtype(at::kBool));
    if (o.causal) seen = seen.tril(o.query0);
    if (o.window > 0) seen = seen.triu(o.query0 + 1 - o.window);
    return z.masked_fill(seen.logical_not(), -std::numeric_limits<double>::infinity());
  }
};

}  // namespace redco::kernel::composed
