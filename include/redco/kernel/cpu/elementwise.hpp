#pragma once

#include <redco/kernel/cpu/lanes.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace redco::kernel::cpu {

/// A tensor divided into contiguous ranges of elements of equal length. Successive ranges begin
/// `stride` elements apart.
struct runs {
  at::Tensor owner;
  std::int64_t length;
  std::int64_t stride;
};

/// Divides `x` into contiguous ranges of elements. A contiguous tensor is one range. A slice of a
/// wider tensor along the last dimension has one range per row. Any other tensor is first copied to
/// a contiguous one.
inline runs runs_of(at::Tensor const& x) {
  if (x.is_contiguous() || x.numel() == 0) return {x, x.numel(), x.numel()};
  bool regular = x.dim() > 1 && x.stride(-1) == 1;
  for (std::int64_t d = 0; regular && d + 2 < x.dim(); ++d) regular = x.stride(d) == x.stride(d + 1) * x.size(d + 1);
  if (regular) return {x, x.size(-1), x.stride(-2)};
  return {x.contiguous(), x.numel(), x.numel()};
}

/// A task on a range of elements: out[i] = op(in[i]). A last, incomplete vector is computed in a
/// padded buffer. The value of an element therefore does not depend on its position.
template <class Op, class T, std::size_t In, std::size_t Out>
struct elementwise_run {
  Op op;
  std::array<T const*, In> in;
  std::array<T*, Out> out;
  std::int64_t n;

  template <int W>
  [[gnu::always_inline]] void operator()() const {
    if constexpr (std::is_same_v<T, double>) {
      for (std::int64_t j = 0; j < n; ++j) {
        double y0 = 0, y1 = 0;
        op.exact(y0, y1, in[0][j], In > 1 ? in[In > 1 ? 1 : 0][j] : 0.0, In > 2 ? in[In > 2 ? 2 : 0][j] : 0.0);
        out[0][j] = y0;
        if constexpr (Out > 1) out[1][j] = y1;
      }
    } else {
      std::int64_t j = 0;
      for (; j + W <= n; j += W) {
        one<W>(in[0] + j, In > 1 ? in[In > 1 ? 1 : 0] + j : nullptr, In > 2 ? in[In > 2 ? 2 : 0] + j : nullptr,
               out[0] + j, Out > 1 ? out[Out > 1 ? 1 : 0] + j : nullptr);
      }
      if (j < n) {
        T from[In][W] = {}, to[Out][W];
        for (std::size_t i = 0; i < In; ++i) std::copy_n(in[i] + j, n - j, from[i]);
        one<W>(from[0], from[In > 1 ? 1 : 0], from[In > 2 ? 2 : 0], to[0], to[Out > 1 ? 1 : 0]);
        for (std::size_t i = 0; i < Out; ++i) std::copy_n(to[i], n - j, out[i] + j);
      }
    }
  }

  template <int W>
  [[gnu::always_inline]] void one(T const* a, T const* b, T const* c, T* to0, T* to1) const {
    typename lanes<W>::real x0, x1 = {}, x2 = {}, y0, y1;
    load_lanes<W>(x0, a);
    if constexpr (In > 1) load_lanes<W>(x1, b);
    if constexpr (In > 2) load_lanes<W>(x2, c);
    op.template operator()<W>(y0, y1, x0, x1, x2);
    store_lanes<W>(to0, y0);
    if constexpr (Out > 1) store_lanes<W>(to1, y1);
  }
};

/// Fills the outputs by applying `op` to all inputs: to vectors of f32 (for f32 and bf16) or to
/// single elements (for f64). All tensors must have one shape and dtype. Each output must be
/// contiguous or a chunk of a contiguous tensor.
template <class T, class Op, std::size_t In, std::size_t Out>
void elementwise_into_as(Op op, std::array<at::Tensor, Out> const& outputs, std::array<at::Tensor, In> const& inputs) {
  std::int64_t const numbers = inputs[0].numel();
  std::int64_t length = numbers;
  auto const lay_out = [&](auto& all, auto const& tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      all[i] = runs_of(tensors[i]);
      length = std::min(length, all[i].length);
    }
  };
  std::array<runs, In> sources;
  std::array<runs, Out> targets;
  lay_out(sources, inputs);
  lay_out(targets, outputs);
  // Cuts a contiguous tensor into adjacent runs if another tensor has shorter runs.
  auto const next_to_each_other = [&](runs& r) { r.stride = r.length == length ? r.stride : length; };
  for (auto& source : sources) next_to_each_other(source);
  for (auto& target : targets) next_to_each_other(target);
  elementwise_run<Op, T, In, Out> all{op, {}, {}, 0};
  for (std::size_t i = 0; i < In; ++i) all.in[i] = sources[i].owner.template const_data_ptr<T>();
  for (std::size_t i = 0; i < Out; ++i) all.out[i] = targets[i].owner.template mutable_data_ptr<T>();
  constexpr std::int64_t grain = 16384;
  tensors::parallel(numbers, grain, [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      std::int64_t const run = begin / length, at = begin % length, n = std::min(length - at, end - begin);
      auto part = all;
      part.n = n;
      for (std::size_t i = 0; i < In; ++i) part.in[i] += run * sources[i].stride + at;
      for (std::size_t i = 0; i < Out; ++i) part.out[i] += run * targets[i].stride + at;
      with_lanes<T>(part);
      begin += n;
    }
  });
}

template <class Op, std::size_t Out, std::size_t In>
void elementwise_into(Op op, std::array<at::Tensor, Out> const& outputs, std::array<at::Tensor, In> const& inputs) {
  switch (inputs[0].scalar_type()) {
    case at::kFloat: return elementwise_into_as<float>(op, outputs, inputs);
    case at::kBFloat16: return elementwise_into_as<at::BFloat16>(op, outputs, inputs);
    default: return elementwise_into_as<double>(op, outputs, inputs);
  }
}

/// Applies `op` to all inputs and returns new tensors with the inputs' shape and dtype.
template <std::size_t Out, class Op, std::size_t In>
std::array<at::Tensor, Out> elementwise(Op op, std::array<at::Tensor, In> const& inputs) {
  std::array<at::Tensor, Out> outputs;
  for (at::Tensor& y : outputs) y = at::empty(inputs[0].sizes(), inputs[0].options());
  elementwise_into(op, outputs, inputs);
  return outputs;
}

}  // namespace redco::kernel::cpu
