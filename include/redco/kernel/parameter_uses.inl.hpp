#pragma once

#include <redco/kernel/parameter_uses.hpp>

#include <redco/kernel/composed/widened.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace redco::kernel::detail {

inline constinit thread_local parameter_uses* uses_of_this_thread = nullptr;

/// Returns `x` [B, ..., features] as [B, rows, features], in f32 for bf16.
inline at::Tensor by_example(at::Tensor const& x) {
  return composed::widened(x.detach()).reshape({x.size(0), -1, x.size(-1)});
}

inline at::Tensor squares_of(at::Tensor const& of_examples) { return of_examples.flatten(1).square().sum(1); }

inline at::Tensor bias_squares(at::Tensor const& g) { return squares_of(by_example(g).sum(1)); }

/// Returns the squares of the norms of the products g^T x of each example. With T rows, the sum of
/// (x x^T) * (g g^T) costs T^2 (In + Out) multiplications, and the product itself T In Out.
inline at::Tensor product_squares(at::Tensor const& x, at::Tensor const& g) {
  if (x.size(1) * (x.size(2) + g.size(2)) > x.size(2) * g.size(2)) return squares_of(at::bmm(g.mT(), x));
  return (at::bmm(x, x.mT()) * at::bmm(g, g.mT())).sum({1, 2});
}

}  // namespace redco::kernel::detail

namespace redco::kernel {

REDCO_INLINE parameter_uses* parameter_uses::current() { return detail::uses_of_this_thread; }

REDCO_INLINE parameter_uses::scope::scope(parameter_uses& observer) {
  if (current() != nullptr)
    throw error(exit_code::internal, "two observers of parameters on one thread: end the first one before");
  detail::uses_of_this_thread = &observer;
}

REDCO_INLINE parameter_uses::scope::~scope() { detail::uses_of_this_thread = nullptr; }

REDCO_INLINE at::Tensor reported_linear(at::Tensor const& y, at::Tensor const& x, at::Tensor const& weight,
                                        at::Tensor const& bias) {
  parameter_uses* const observer = parameter_uses::current();
  if (observer == nullptr || !y.requires_grad()) return y;
  observer->used(weight, y, [x](at::Tensor const& g) {
    return detail::product_squares(detail::by_example(x), detail::by_example(g));
  });
  if (bias.defined()) observer->used(bias, y, detail::bias_squares);
  return y;
}

REDCO_INLINE at::Tensor reported_lookup(at::Tensor const& y, at::Tensor const& table, at::Tensor const& rows,
                                        std::int64_t left_out) {
  parameter_uses* const observer = parameter_uses::current();
  if (observer == nullptr || !y.requires_grad()) return y;
  observer->used(table, y, [rows, left_out](at::Tensor const& gradient) {
    at::Tensor const g = detail::by_example(gradient), ids = rows.reshape({rows.size(0), -1});
    at::Tensor const counts = (ids >= 0).logical_and(ids != left_out).unsqueeze(2);
    at::Tensor const equal = (ids.unsqueeze(1) == ids.unsqueeze(2)).logical_and(counts);
    return at::where(equal, at::bmm(g, g.mT()), 0).sum({1, 2});
  });
  return y;
}

REDCO_INLINE at::Tensor reported_norm(at::Tensor const& y, at::Tensor const& weight, at::Tensor const& bias,
                                      std::function<at::Tensor()> normalised) {
  parameter_uses* const observer = parameter_uses::current();
  if (observer == nullptr || !y.requires_grad()) return y;
  if (weight.defined())
    observer->used(weight, y, [normalised = std::move(normalised)](at::Tensor const& g) {
      return detail::bias_squares(detail::by_example(g) * detail::by_example(normalised()));
    });
  if (bias.defined()) observer->used(bias, y, detail::bias_squares);
  return y;
}

REDCO_INLINE at::Tensor per_example(at::Tensor const& parameter, at::Tensor const& part, std::int64_t examples,
                                    std::int64_t dims) {
  parameter_uses* const observer = parameter_uses::current();
  if (observer == nullptr || !part.requires_grad()) return part;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(dims - part.dim()), 1);
  sizes.insert(sizes.end(), part.sizes().begin(), part.sizes().end());
  sizes.front() = examples;
  at::Tensor const all = part.expand(sizes);
  observer->used(parameter, all, [](at::Tensor const& g) { return detail::squares_of(detail::by_example(g)); });
  return all;
}

}  // namespace redco::kernel
