#pragma once

#include <redco/comm/collectives.hpp>
#include <redco/layer/layer.hpp>
#include <redco/nn/builder.hpp>
#include <redco/nn/context.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>

#include <type_traits>

namespace redco {

/// What layer `L` computes on its local shards for an input of layout X: constructed from a builder, called with
/// (tensor<X>, context), const, and giving tensor<out_t<L, X>>. Each layer type has its own specialisation; a user's
/// layer type brings its own.
template <class L, class X>
struct module;

namespace detail {

/// Reduces a pending sum; any other layout is itself.
template <layout X>
tensor<X> settle(tensor<X> const& x, group&) {
  return x;
}
inline tensor<replicated> settle(tensor<partial> const& x, group& mp) { return reduce(x, mp); }

/// A replicated value on its way into a column-parallel layer that enters by itself; what has entered is itself.
inline tensor<entered> entering(tensor<replicated> const& x, group& mp) { return enter(x, mp); }
inline tensor<entered> entering(tensor<entered> const& x, group&) { return x; }

}  // namespace detail

}  // namespace redco
