#pragma once

#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/composed/widened.hpp>
#include <redco/kernel/cpu/attention_problem.hpp>
#include <redco/kernel/cpu/attention_run.hpp>
#include <redco/kernel/cpu/with_element.hpp>
#include <redco/kernel/detail/attention_function.hpp>

#include <redco/tensor/torch.hpp>

namespace redco::kernel::cpu {

using detail::attention_gradient;
using detail::attention_result;
using detail::attention_tensors;

template <class T>
head_view<T> view_heads(at::Tensor const& x) {
  return {static_cast<T*>(x.data_ptr()), x.stride(0), x.stride(1)};
}

template <class T>
head_view<T const> read_heads(at::Tensor const& x) {
  return {static_cast<T const*>(x.const_data_ptr()), x.stride(0), x.stride(1)};
}

template <class T>
attention_problem<T> make_problem(detail::attention_tensors const& t, attention_options const& o,
                                  at::Tensor const& bias, detail::attention_result const& made) {
  using sum = sum_of<T>;
  return {.batch = t.q.size(0),
          .queries = t.q.size(1),
          .keys = t.k.size(1),
          .width = t.q.size(2) / o.heads,
          .options = o,
          .q = read_heads<T>(t.q),
          .k = read_heads<T>(t.k),
          .v = read_heads<T>(t.v),
          .out = view_heads<T>(made.out),
          .lse = made.lse.mutable_data_ptr<sum>(),
          .mask = t.mask.defined() ? t.mask.const_data_ptr<bool>() : nullptr,
          .bias = bias.defined() ? bias.const_data_ptr<sum>() : nullptr,
          .bias_shared = bias.defined() && (bias.dim() == 2 || bias.size(0) == 1),
          .distances = bias.defined() && bias.dim() == 2 ? bias.size(1) : 0};
}

inline at::Tensor in_sum_type(at::Tensor const& x, at::ScalarType type) {
  return x.defined() ? x.to(composed::sum_type(type)).contiguous() : x;
}

/// The CPU implementation of attention: functions forward and backward.
/// detail/attention_function.hpp makes a differentiable function of them.
struct attention_twin {
  static detail::attention_result forward(detail::attention_tensors const& t, attention_options const& o) {
    auto const type = t.q.scalar_type();
    detail::attention_result made{
        at::empty({t.q.size(0), t.q.size(1), t.q.size(2)}, t.q.options()),
        at::empty({t.q.size(0), o.heads, t.q.size(1)}, t.q.options().dtype(composed::sum_type(type)))};
    auto const bias = in_sum_type(t.bias, type);
    with_element(type, [&](auto element) { run_attention_forward(make_problem<decltype(element)>(t, o, bias, made)); });
    return made;
  }

  static at::Tensor backward(detail::attention_tensors const& t, attention_options const& o,
                             detail::attention_gradient const& given, detail::attention_tensors const& into) {
    auto const type = t.q.scalar_type();
    auto const bias = in_sum_type(t.bias, type);
    auto const dbias = given.wants_bias ? at::zeros_like(bias) : at::Tensor();
    with_element(type, [&](auto element) {
      using T = decltype(element);
      auto a = make_problem<T>(t, o, bias, given.made);
      a.grad = read_heads<T>(given.of_out);
      a.dq = view_heads<T>(into.q), a.dk = view_heads<T>(into.k), a.dv = view_heads<T>(into.v);
      if (given.wants_bias) a.dbias = dbias.template mutable_data_ptr<sum_of<T>>();
      run_attention_backward(a);
    });
    return given.wants_bias ? dbias.to(t.bias.scalar_type()) : at::Tensor();
  }
};

}  // namespace redco::kernel::cpu
