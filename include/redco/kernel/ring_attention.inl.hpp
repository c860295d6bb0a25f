#pragma once

#include <redco/kernel/ring_attention.hpp>

#include <redco/kernel/attention.inl.hpp>
#include <redco/kernel/composed/attention_kernels.hpp>
#include <redco/kernel/composed/widened.hpp>
#include <redco/kernel/cpu/attention.hpp>
#include <redco/kernel/cuda/attention.hpp>
#include <redco/kernel/detail/attention_function.hpp>
#include <redco/kernel/detail/attention_ring.hpp>
#include <redco/kernel/detail/dispatch.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace redco::kernel::detail {

/// Options of a ring attention that backward needs in addition to the saved tensors.
struct ring_state : torch::CustomClassHolder {
  ring_state(attention_options const& o, comm::group& r, shape::sequence_part const& p)
      : options(o), ranks(&r), part(p) {
    options.sinks.reset();  // autograd saves sinks separately
  }

  attention_options options;
  comm::group* ranks;
  shape::sequence_part part;
};

/// The differentiable function of ring attention. `Twin`: see packed_attention.
template <class Twin>
struct ring_function : tensors::recorded_function<ring_function<Twin>> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& qkv,
                            std::optional<at::Tensor> const& sinks, c10::intrusive_ptr<ring_state> const& state) {
    attention_options const& o = state->options;
    attention_tensors const t = unpack_qkv(qkv, o);
    auto const wide = composed::sum_type(qkv.scalar_type());
    std::int64_t const examples = qkv.size(0), tokens = qkv.size(1);
    at::Tensor const out = at::zeros({examples, tokens, o.heads, t.q.size(2) / o.heads}, qkv.options().dtype(wide));
    double const never = -std::numeric_limits<double>::infinity();
    at::Tensor const lse = at::full({examples, o.heads, tokens}, never, out.options());
    // Returns exp(some - all), [B, t, H, 1]; 0 for a query that has seen no key so far.
    auto const weight = [&](at::Tensor const& some, at::Tensor const& all) {
      return (some - all.masked_fill(all.eq(never), 0)).exp_().transpose(1, 2).unsqueeze(3);
    };
    attention_ring const ring(o, *state->ranks, state->part);
    ring.go_round(at::cat({t.k, t.v}, 2), [&](int of, at::Tensor const& block) {
      auto const keys = block.chunk(2, 2);
      for (attention_ring::pair const& one : ring.pairs_with(of)) {
        auto const made = Twin::forward({t.q.narrow(1, one.query, one.queries),
                                         keys[0].narrow(1, one.key, one.keys),
                                         keys[1].narrow(1, one.key, one.keys),
                                         {},
                                         one.options.key_mask,
                                         {}},
                                        one.options);
        at::Tensor const sums = out.narrow(1, one.query, one.queries), known = lse.narrow(2, one.query, one.queries);
        at::Tensor const both = at::logaddexp(known, made.lse);
        sums.mul_(weight(known, both)).add_(made.out.view(sums.sizes()) * weight(made.lse, both));
        known.copy_(both);
      }
    });
    if (sinks) {
      at::Tensor const all = at::logaddexp(lse, sinks->to(wide).unsqueeze(1));
      out.mul_(weight(lse, all));
      lse.copy_(all);
    }
    at::Tensor const result = out.flatten(2).to(qkv.scalar_type());
    ctx->save_for_backward(
        {qkv, tensors::save_as("output", result), tensors::save_as("log_sum_exp", lse), sinks.value_or(at::Tensor())});
    ctx->saved_data["ring"] = c10::IValue::make_capsule(state);
    return result;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& grads) {
    if (at::GradMode::is_enabled())
      throw error(exit_code::usage,
                  "attention of sequences divided over ranks has no second derivative; give cp=1, or a cp that divides "
                  "the heads");
    auto const saved = ctx->get_saved_variables();
    auto const& state = static_cast<ring_state const&>(*ctx->saved_data.at("ring").toCapsule());
    attention_options const& o = state.options;
    attention_tensors const t = unpack_qkv(saved[0], o);
    at::Tensor const g = grads[0].contiguous();
    auto const wide = saved[2].scalar_type();
    auto const zeros = [&](at::Tensor const& like) { return at::zeros(like.sizes(), like.options().dtype(wide)); };
    at::Tensor const of_queries = zeros(t.q), own = at::cat({t.k, t.v}, 2);
    at::Tensor of_block;
    attention_ring const ring(o, *state.ranks, state.part);
    ring.go_round(own, [&](int of, at::Tensor const& block) {
      auto const keys = block.chunk(2, 2);
      of_block = of_block.defined() ? ring.passed_on(of_block) : zeros(own);
      auto const sums = of_block.chunk(2, 2);
      for (attention_ring::pair const& one : ring.pairs_with(of)) {
        auto const queries = [&](at::Tensor const& x) { return x.narrow(1, one.query, one.queries); };
        auto const some_keys = [&](at::Tensor const& x) { return x.narrow(1, one.key, one.keys); };
        attention_tensors const part{queries(t.q), some_keys(keys[0]),   some_keys(keys[1]),
                                     {},           one.options.key_mask, {}};
        auto const like = [](at::Tensor const& x) { return at::empty_like(x, at::MemoryFormat::Contiguous); };
        attention_tensors const into{like(part.q), like(part.k), like(part.v), {}, {}, {}};
        // The kernels for CUDA read contiguous results and gradients.
        attention_result const made{queries(saved[1]).contiguous(),
                                    saved[2].narrow(2, one.query, one.queries).contiguous()};
        Twin::backward(part, one.options, {made, queries(g).contiguous(), false}, into);
        queries(of_queries).add_(into.q);
        some_keys(sums[0]).add_(into.k);
        some_keys(sums[1]).add_(into.v);
      }
    });
    at::Tensor const of_keys = ring.passed_on(std::exchange(of_block, {})), of_qkv = at::empty_like(saved[0]);
    of_qkv.narrow(2, 0, of_queries.size(2)).copy_(of_queries);
    of_qkv.narrow(2, of_queries.size(2), of_keys.size(2)).copy_(of_keys);
    return {of_qkv, saved[3].defined() ? sink_gradient(saved, g) : at::Tensor(), {}};
  }

  /// Returns the gradient of the sinks. `saved`: tensors that forward saved; `g`: gradient of the
  /// result.
  static at::Tensor sink_gradient(torch::autograd::variable_list const& saved, at::Tensor const& g) {
    at::Tensor const &lse = saved[2], &sinks = saved[3];
    auto const by_head = [&](at::Tensor const& x) { return x.to(lse.scalar_type()).unflatten(2, {sinks.size(0), -1}); };
    at::Tensor const delta = (by_head(g) * by_head(saved[1])).sum(3).transpose(1, 2);
    at::Tensor const share = (sinks.to(lse.scalar_type()).unsqueeze(1) - lse).exp_();
    return (share * delta).sum(at::IntArrayRef{0, 2}).neg_().to(sinks.scalar_type());
  }
};

template <class Twin>
at::Tensor ring_attention_by(at::Tensor const& qkv, at::Tensor const& sinks,
                             c10::intrusive_ptr<ring_state> const& state) {
  return ring_function<Twin>::apply(with_dense_rows(qkv), maybe(sinks), state);
}

}  // namespace redco::kernel::detail

namespace redco::kernel {

REDCO_INLINE at::Tensor ring_attention(at::Tensor const& qkv, attention_options const& options, comm::group& ranks,
                                       shape::sequence_part const& part) {
  // The checks see the sequences as a view of all tokens.
  detail::check_attention(qkv.narrow(1, 0, 1).expand({-1, part.all, -1}), part.all, options);
  comm::collective_label const label("ring attention");
  auto const state = c10::make_intrusive<detail::ring_state>(options, ranks, part);
  return detail::dispatch(
      qkv, [&] { return detail::ring_attention_by<cuda::attention_kernels>(qkv, options.sinks, state); },
      [&] { return detail::ring_attention_by<cpu::attention_kernels>(qkv, options.sinks, state); },
      [&] { return detail::ring_attention_by<composed::attention_kernels>(qkv, options.sinks, state); });
}

}  // namespace redco::kernel
