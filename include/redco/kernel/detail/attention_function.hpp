#pragma once

#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/composed/attention.hpp>
#include <redco/kernel/composed/gradients_of.hpp>

#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/tensor/torch.hpp>

#include <optional>
#include <utility>

namespace redco::kernel::detail {

/// Operands of an attention call: q, k and v, with bias, mask and sinks if given. q, k and v are
/// separate tensors or views of one packed tensor. Their last dimension is contiguous.
struct attention_tensors {
  at::Tensor q, k, v, bias = {}, mask = {}, sinks = {};
};

/// The result of attention: `out` [B, T, H * D], contiguous, and the log-sum-exp `lse` [B, H, T] in
/// f32 (f64 for f64). The sum of exponentials includes the sink's.
struct attention_result {
  at::Tensor out, lse;
};

/// Inputs of attention's backward in addition to q, k and v: the result of forward, and the
/// gradient of its output.
struct attention_gradient {
  attention_result made;
  at::Tensor of_out;
  bool wants_bias, wants_sinks = false;
};

/// Gradients of an attention call's optional operands; undefined if not requested.
struct attention_extras {
  at::Tensor bias, sinks;
};

/// Returns views of the parts q, k and v of the packed tensor `qkv`.
inline attention_tensors unpack_qkv(at::Tensor const& qkv, attention_options const& o) {
  auto const d = qkv.size(2) / (o.heads + 2 * o.kv_heads);
  return {qkv.narrow(2, 0, o.heads * d),
          qkv.narrow(2, o.heads * d, o.kv_heads * d),
          qkv.narrow(2, (o.heads + o.kv_heads) * d, o.kv_heads * d),
          {},
          {},
          {}};
}

/// Options of an attention call that backward needs in addition to the saved tensors.
struct attention_state : torch::CustomClassHolder {
  explicit attention_state(attention_options const& o, bool b, bool s) : options(o), wants_bias(b), wants_sinks(s) {
    options.key_mask.reset();  // autograd saves key_mask, bias and sinks separately
    options.bias.reset();
    options.sinks.reset();
  }

  attention_options with(at::Tensor const& bias, at::Tensor const& mask, at::Tensor const& sinks) const {
    attention_options all = options;
    all.bias = bias, all.key_mask = mask, all.sinks = sinks;
    return all;
  }

  attention_options options;
  bool wants_bias, wants_sinks;
};

/// Choice of the optional operands whose gradients backward computes.
struct wanted_extras {
  bool bias, sinks;
};

/// Saves tensors for the backward of attention: the operands in `saved`, the output, the
/// log-sum-exp, and the bias, mask and sinks of `t` if given.
inline void save_attention(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list saved,
                           attention_result const& made, attention_tensors const& t, attention_options const& o,
                           wanted_extras const& wants) {
  for (at::Tensor const& x :
       {tensors::save_as("output", made.out), tensors::save_as("log_sum_exp", made.lse), t.bias, t.mask, t.sinks})
    saved.push_back(x);
  ctx->save_for_backward(std::move(saved));
  ctx->saved_data["attention"] =
      c10::IValue::make_capsule(c10::make_intrusive<attention_state>(o, wants.bias, wants.sinks));
}

inline attention_state const& state_of(torch::autograd::AutogradContext* ctx) {
  return static_cast<attention_state const&>(*ctx->saved_data.at("attention").toCapsule());
}

/// The differentiable function of self-attention of a packed tensor. Autograd saves qkv, the
/// output, the log-sum-exp, and bias, mask and sinks if given.
///
/// `Twin` is the CPU or CUDA implementation. Twin::forward(tensors, options) returns an
/// attention_result. Twin::backward(tensors, options, gradient, into) fills q, k and v of `into`.
/// It returns the gradients of bias and sinks if requested, as attention_extras.
template <class Twin>
struct packed_attention : tensors::recorded_function<packed_attention<Twin>> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& qkv,
                            std::optional<at::Tensor> const& bias, std::optional<at::Tensor> const& sinks,
                            attention_options const& o, wanted_extras const& wants) {
    auto t = unpack_qkv(qkv, o);
    t.bias = bias.value_or(at::Tensor()), t.mask = o.key_mask, t.sinks = sinks.value_or(at::Tensor());
    auto const made = Twin::forward(t, o);
    save_attention(ctx, {qkv}, made, t, o, wants);
    return made.out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& grads) {
    auto const saved = ctx->get_saved_variables();
    auto const& state = state_of(ctx);
    auto t = unpack_qkv(saved[0], state.options);
    t.bias = saved[3], t.mask = saved[4], t.sinks = saved[5];
    if (at::GradMode::is_enabled()) {
      auto const f = [&](auto const& in) { return composed::self_attention(in[0], state.with(in[1], t.mask, in[2])); };
      auto all = composed::gradients_of(f, {saved[0], t.bias, t.sinks}, grads[0]);
      all.resize(5);
      return all;
    }
    auto const dqkv = at::empty_like(saved[0]);
    attention_gradient const gradient{{saved[1], saved[2]}, grads[0].contiguous(), state.wants_bias, state.wants_sinks};
    auto const extras = Twin::backward(t, state.options, gradient, unpack_qkv(dqkv, state.options));
    return {dqkv, extras.bias, extras.sinks, {}, {}};
  }
};

/// The differentiable function of attention with separate q, k and v. Autograd saves q, k, v, the
/// output, the log-sum-exp, and bias, mask and sinks if given.
template <class Twin>
struct separate_attention : tensors::recorded_function<separate_attention<Twin>> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& q, at::Tensor const& k,
                            at::Tensor const& v, std::optional<at::Tensor> const& bias,
                            std::optional<at::Tensor> const& sinks, attention_options const& o,
                            wanted_extras const& wants) {
    attention_tensors const t{q, k, v, bias.value_or(at::Tensor()), o.key_mask, sinks.value_or(at::Tensor())};
    auto const made = Twin::forward(t, o);
    save_attention(ctx, {q, k, v}, made, t, o, wants);
    return made.out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& grads) {
    auto const saved = ctx->get_saved_variables();
    auto const& state = state_of(ctx);
    attention_tensors const t{saved[0], saved[1], saved[2], saved[5], saved[6], saved[7]};
    if (at::GradMode::is_enabled()) {
      auto const f = [&](auto const& in) {
        return composed::attention(in[0], in[1], in[2], state.with(in[3], t.mask, in[4]));
      };
      auto all = composed::gradients_of(f, {t.q, t.k, t.v, t.bias, t.sinks}, grads[0]);
      all.resize(7);
      return all;
    }
    auto const like = [](at::Tensor const& x) { return at::empty_like(x, at::MemoryFormat::Contiguous); };
    attention_tensors const into{like(t.q), like(t.k), like(t.v), {}, {}, {}};
    attention_gradient const gradient{{saved[3], saved[4]}, grads[0].contiguous(), state.wants_bias, state.wants_sinks};
    auto const extras = Twin::backward(t, state.options, gradient, into);
    return {into.q, into.k, into.v, extras.bias, extras.sinks, {}, {}};
  }
};

inline at::Tensor with_dense_rows(at::Tensor const& x) { return x.stride(2) == 1 ? x : x.contiguous(); }

inline attention_options ready_options(attention_options o) {
  if (o.key_mask.defined()) o.key_mask = o.key_mask.contiguous();
  if (o.documents.defined()) o.documents = o.documents.contiguous();
  return o;
}

inline bool wants_gradient(at::Tensor const& x) {
  return at::GradMode::is_enabled() && x.defined() && x.requires_grad();
}

// recorded_function accepts an undefined tensor only as an empty optional.
inline std::optional<at::Tensor> maybe(at::Tensor const& x) { return x.defined() ? std::optional(x) : std::nullopt; }

inline wanted_extras extras_of(attention_options const& o) { return {wants_gradient(o.bias), wants_gradient(o.sinks)}; }

template <class Twin>
at::Tensor self_attention_by(at::Tensor const& qkv, attention_options const& o) {
  return packed_attention<Twin>::apply(with_dense_rows(qkv), maybe(o.bias), maybe(o.sinks), ready_options(o),
                                       extras_of(o));
}

template <class Twin>
at::Tensor cross_attention_by(at::Tensor const& q, at::Tensor const& k, at::Tensor const& v,
                              attention_options const& o) {
  return separate_attention<Twin>::apply(with_dense_rows(q), with_dense_rows(k), with_dense_rows(v), maybe(o.bias),
                                         maybe(o.sinks), ready_options(o), extras_of(o));
}

}  // namespace redco::kernel::detail
