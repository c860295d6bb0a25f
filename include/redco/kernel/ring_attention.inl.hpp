#pragma once

#include <redco/kernel/ring_attention.hpp>

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
#include <string>

namespace redco::kernel::detail {

/// Options of a ring attention that backward needs in addition to the saved tensors.
struct ring_state : torch::CustomClassHolder {
  ring_state(attention_options const& o, comm::group& r, shape::sequence_part const& p)
      : options(o), ranks(&r), part(p) {}

  attention_options options;
  comm::group* ranks;
  shape::sequence_part part;
};

/// The differentiable function of ring attention. `Twin`: see packed_attention.
template <class Twin>
struct ring_function : tensors::recorded_function<ring_function<Twin>> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& qkv,
                            c10::intrusive_ptr<ring_state> const& state) {
    attention_options const& o = state->options;
    attention_tensors const t = unpack_qkv(qkv, o);
    auto const wide = composed::sum_type(qkv.scalar_type());
    std::int64_t const examples = qkv.size(0), tokens = qkv.size(1);
    at::Tensor const out = at::zeros({examples, tokens, o.heads, t.q.size(2) / o.heads}, qkv.options().dtype(wide));
    at::Tensor const lse =
        at::full({examples, o.heads, tokens}, -std::numeric_limits<double>::infinity(), out.options());
    attention_ring const ring(o, *state->ranks, state->part);
    ring.go_round(at::cat({t.k, t.v}, 2), [&](int of, at::Tensor const& block) {
      auto const keys = block.chunk(2, 2);
      for (attention_ring::pair const& one : ring.pairs_with(of)) {
        auto const made = Twin::forward({t.q.narrow(1, one.query, one.queries),
                                         keys[0].narrow(1, one.key, one.keys),
                                         keys[1].narrow(1, one.key, one.keys),
                                         {},
                                         {},
                                         {}},
                                        one.options);
        at::Tensor const sums = out.narrow(1, one.query, one.queries), known = lse.narrow(2, one.query, one.queries);
        at::Tensor const both = at::logaddexp(known, made.lse);
        auto const weight = [&](at::Tensor const& of_some) {
          return (of_some - both).exp_().transpose(1, 2).unsqueeze(3);
        };
        sums.mul_(weight(known)).add_(made.out.view(sums.sizes()) * weight(made.lse));
        known.copy_(both);
      }
    });
    at::Tensor const result = out.flatten(2).to(qkv.scalar_type());
    ctx->save_for_backward({qkv, tensors::save_as("output", result), tensors::save_as("log_sum_exp", lse)});
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
        attention_tensors const part{queries(t.q), some_keys(keys[0]), some_keys(keys[1]), {}, {}, {}};
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
    return {at::cat({of_queries, ring.passed_on(of_block)}, 2).to(saved[0].scalar_type()), {}};
  }
};

inline void check_ring(attention_options const& o) {
  auto const refuse = [](std::string const& what) {
    throw error(exit_code::usage,
                what +
                    " while ranks along the mesh axis cp hold parts of the sequences and do not divide the heads; "
                    "give a cp that divides heads and key-value heads");
  };
  if (o.key_mask.defined()) refuse("attention has a key mask");
  if (o.documents.defined()) refuse("attention keeps documents of a row apart");
  if (o.dropout > 0) refuse("attention has dropout");
  if (o.pattern.is_sparse()) refuse("attention has a pattern of blocks");
  if (o.sinks.defined()) refuse("attention has sinks");
}

template <class Twin>
at::Tensor ring_attention_by(at::Tensor const& qkv, c10::intrusive_ptr<ring_state> const& state) {
  return ring_function<Twin>::apply(with_dense_rows(qkv), state);
}

}  // namespace redco::kernel::detail

namespace redco::kernel {

REDCO_INLINE at::Tensor ring_attention(at::Tensor const& qkv, attention_options const& options, comm::group& ranks,
                                       shape::sequence_part const& part) {
  detail::check_ring(options);
  comm::collective_label const label("ring attention");
  auto const state = c10::make_intrusive<detail::ring_state>(options, ranks, part);
  return detail::dispatch(
      qkv, [&] { return detail::ring_attention_by<cuda::attention_kernels>(qkv, state); },
      [&] { return detail::ring_attention_by<cpu::attention_kernels>(qkv, state); },
      [&] { return detail::ring_attention_by<composed::attention_kernels>(qkv, state); });
}

}  // namespace redco::kernel
