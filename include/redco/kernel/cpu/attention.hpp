#pragma once

#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/composed/attention.hpp>
#include <redco/kernel/composed/gradients_of.hpp>
#include <redco/kernel/composed/widened.hpp>
#include <redco/kernel/cpu/attention_problem.hpp>
#include <redco/kernel/cpu/attention_run.hpp>

#include <redco/tensor/recorded_function.hpp>
#include <redco/tensor/save_as.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace redco::kernel::cpu {

/// The operands of one call as tensors: q, k, v are separate or views of one packed tensor; all have a contiguous last
/// dimension.
struct attention_tensors {
  at::Tensor q, k, v, bias, mask;
};

/// The parts q, k, v of a packed tensor.
inline attention_tensors unpack_qkv(at::Tensor const& qkv, attention_options const& o) {
  auto const d = qkv.size(2) / (o.heads + 2 * o.kv_heads);
  return {qkv.narrow(2, 0, o.heads * d),
          qkv.narrow(2, o.heads * d, o.kv_heads * d),
          qkv.narrow(2, (o.heads + o.kv_heads) * d, o.kv_heads * d),
          {},
          {}};
}

template <class T>
head_view<T> view_heads(at::Tensor const& x) {
  return {static_cast<T*>(x.data_ptr()), x.stride(0), x.stride(1)};
}

template <class T>
head_view<T const> read_heads(at::Tensor const& x) {
  return {static_cast<T const*>(x.const_data_ptr()), x.stride(0), x.stride(1)};
}

template <class T>
attention_problem<T> make_problem(attention_tensors const& t, attention_options const& o, at::Tensor const& bias,
                                  at::Tensor const& out, at::Tensor const& lse) {
  using sum = sum_of<T>;
  return {.batch = t.q.size(0),
          .queries = t.q.size(1),
          .keys = t.k.size(1),
          .width = t.q.size(2) / o.heads,
          .options = o,
          .q = read_heads<T>(t.q),
          .k = read_heads<T>(t.k),
          .v = read_heads<T>(t.v),
          .out = view_heads<T>(out),
          .lse = lse.mutable_data_ptr<sum>(),
          .mask = t.mask.defined() ? t.mask.const_data_ptr<bool>() : nullptr,
          .bias = bias.defined() ? bias.const_data_ptr<sum>() : nullptr,
          .bias_shared = bias.defined() && (bias.dim() == 2 || bias.size(0) == 1),
          .distances = bias.defined() && bias.dim() == 2 ? bias.size(1) : 0};
}

/// Calls f with a value of the element type.
template <class F>
void with_element(at::ScalarType type, F const& f) {
  if (type == at::kDouble) return f(double{});
  if (type == at::kFloat) return f(float{});
  f(at::BFloat16{});
}

using composed::sum_type;

inline at::Tensor in_sum_type(at::Tensor const& x, at::ScalarType type) {
  return x.defined() ? x.to(sum_type(type)).contiguous() : x;
}

/// {out [B, T, H * D], log-sum-exp [B, H, T] in f32 (f64 for f64)}.
inline std::pair<at::Tensor, at::Tensor> attention_forward(attention_tensors const& t, attention_options const& o) {
  auto const type = t.q.scalar_type();
  auto const out = at::empty({t.q.size(0), t.q.size(1), t.q.size(2)}, t.q.options());
  auto const lse = at::empty({t.q.size(0), o.heads, t.q.size(1)}, t.q.options().dtype(sum_type(type)));
  auto const bias = in_sum_type(t.bias, type);
  with_element(type,
               [&](auto element) { run_attention_forward(make_problem<decltype(element)>(t, o, bias, out, lse)); });
  return {out, lse};
}

/// Writes the gradients into dq, dk, dv and gives that of the bias where wanted.
inline at::Tensor attention_backward(attention_tensors const& t, attention_options const& o, at::Tensor const& out,
                                     at::Tensor const& lse, at::Tensor const& grad_in,
                                     attention_tensors const& gradients, bool wants_bias) {
  auto const type = t.q.scalar_type();
  auto const grad = grad_in.contiguous();
  auto const bias = in_sum_type(t.bias, type);
  auto const dbias = wants_bias ? at::zeros_like(bias) : at::Tensor();
  with_element(type, [&](auto element) {
    using T = decltype(element);
    auto a = make_problem<T>(t, o, bias, out, lse);
    a.grad = read_heads<T>(grad);
    a.dq = view_heads<T>(gradients.q), a.dk = view_heads<T>(gradients.k), a.dv = view_heads<T>(gradients.v);
    if (wants_bias) a.dbias = dbias.template mutable_data_ptr<sum_of<T>>();
    run_attention_backward(a);
  });
  return wants_bias ? dbias.to(t.bias.scalar_type()) : at::Tensor();
}

/// What backward knows beside the saved tensors.
struct attention_state : torch::CustomClassHolder {
  attention_state(attention_options const& o, bool b) : options(o), wants_bias(b) {
    options.key_mask.reset();  // both are saved variables
    options.bias.reset();
  }

  attention_options with(at::Tensor const& bias, at::Tensor const& mask) const {
    attention_options all = options;
    all.bias = bias, all.key_mask = mask;
    return all;
  }

  attention_options options;
  bool wants_bias;
};

inline attention_state const& state_of(torch::autograd::AutogradContext* ctx) {
  return static_cast<attention_state const&>(*ctx->saved_data.at("attention").toCapsule());
}

/// Saves qkv, out, log-sum-exp, and bias and mask where given.
struct packed_attention : redco::recorded_function<packed_attention> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& qkv,
                            std::optional<at::Tensor> const& bias_in, attention_options const& o, bool wants_bias) {
    auto const bias = bias_in.value_or(at::Tensor());
    auto t = unpack_qkv(qkv, o);
    t.bias = bias, t.mask = o.key_mask;
    auto const [out, lse] = attention_forward(t, o);
    ctx->save_for_backward({qkv, save_as("output", out), save_as("log_sum_exp", lse), bias, o.key_mask});
    ctx->saved_data["attention"] = c10::IValue::make_capsule(c10::make_intrusive<attention_state>(o, wants_bias));
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& grads) {
    auto const saved = ctx->get_saved_variables();
    auto const& state = state_of(ctx);
    auto t = unpack_qkv(saved[0], state.options);
    t.bias = saved[3], t.mask = saved[4];
    if (at::GradMode::is_enabled()) {
      auto const f = [&](auto const& in) { return composed::self_attention(in[0], state.with(in[1], t.mask)); };
      auto all = composed::gradients_of(f, {saved[0], t.bias}, grads[0]);
      all.resize(4);
      return all;
    }
    auto const dqkv = at::empty_like(saved[0]);
    auto const dbias = attention_backward(t, state.options, saved[1], saved[2], grads[0],
                                          unpack_qkv(dqkv, state.options), state.wants_bias);
    return {dqkv, dbias, {}, {}};
  }
};

/// Saves q, k, v, out, log-sum-exp, and bias and mask where given.
struct separate_attention : redco::recorded_function<separate_attention> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& q, at::Tensor const& k,
                            at::Tensor const& v, std::optional<at::Tensor> const& bias_in, attention_options const& o,
                            bool wants_bias) {
    auto const bias = bias_in.value_or(at::Tensor());
    auto const [out, lse] = attention_forward({q, k, v, bias, o.key_mask}, o);
    ctx->save_for_backward({q, k, v, save_as("output", out), save_as("log_sum_exp", lse), bias, o.key_mask});
    ctx->saved_data["attention"] = c10::IValue::make_capsule(c10::make_intrusive<attention_state>(o, wants_bias));
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& grads) {
    auto const saved = ctx->get_saved_variables();
    auto const& state = state_of(ctx);
    attention_tensors const t{saved[0], saved[1], saved[2], saved[5], saved[6]};
    if (at::GradMode::is_enabled()) {
      auto const f = [&](auto const& in) {
        return composed::attention(in[0], in[1], in[2], state.with(in[3], t.mask));
      };
      auto all = composed::gradients_of(f, {t.q, t.k, t.v, t.bias}, grads[0]);
      all.resize(6);
      return all;
    }
    auto const like = [](at::Tensor const& x) { return at::empty_like(x, at::MemoryFormat::Contiguous); };
    attention_tensors const gradients{like(t.q), like(t.k), like(t.v), {}, {}};
    auto const dbias = attention_backward(t, state.options, saved[3], saved[4], grads[0], gradients, state.wants_bias);
    return {gradients.q, gradients.k, gradients.v, dbias, {}, {}};
  }
};

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

inline at::Tensor self_attention(at::Tensor const& qkv, attention_options const& o) {
  return packed_attention::apply(with_dense_rows(qkv), maybe(o.bias), ready_options(o), wants_gradient(o.bias));
}

inline at::Tensor cross_attention(at::Tensor const& q, at::Tensor const& k, at::Tensor const& v,
                                  attention_options const& o) {
  return separate_attention::apply(with_dense_rows(q), with_dense_rows(k), with_dense_rows(v), maybe(o.bias),
                                   ready_options(o), wants_gradient(o.bias));
}

}  // namespace redco::kernel::cpu
