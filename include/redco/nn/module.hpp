#pragma once

#include <redco/nn/builder.hpp>
#include <redco/nn/context.hpp>
#include <redco/nn/pass.hpp>
#include <redco/nn/pending_sum.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/layer/layer.hpp>

#include <type_traits>

namespace redco {

/// A module computes a layer of type `L` on one rank's shards, for an input with the distribution
/// (layout) X. Modules are constructed from a builder and called with (tensor<X>, context). The
/// call is const. It returns tensor<out_t<L, X>>, or a pending_sum in place of a tensor<partial>.
/// Specialise this template for each layer type of your own.
template <class L, class X>
struct module;

}  // namespace redco

namespace redco::nn::detail {

/// Returns `x` reduced to layout `Home` if `x` is a pending sum over the shards. Returns a value of
/// another layout unchanged.
template <shape::layout Home = shape::replicated, shape::layout X>
tensor<layers::finished_t<X, Home>> finish(tensor<X> const& x, [[maybe_unused]] pass const& in) {
  if constexpr (!std::is_same_v<X, shape::partial>) {
    return x;
  } else if constexpr (shape::is_token_split<Home>) {
    return comm::reduce_tokens(x, *in.tp);
  } else {
    return comm::reduce(x, *in.tp);
  }
}

/// Reduces the result `x` of a row-parallel layer over the shards to layout `Home`. If the layer's
/// product is not computed yet, it is computed here and overlaps the reduction.
template <shape::layout Home = shape::replicated>
tensor<layers::finished_t<shape::partial, Home>> finish(pending_sum const& x, pass const& in) {
  if constexpr (shape::is_token_split<Home>) {
    return reduced_tokens(x, in);
  } else {
    return reduced(x, in);
  }
}

/// Returns `x` as input of a column-parallel layer (layout `entered`). Gathers split tokens; for a
/// replicated `x`, backward sums the gradient over the shards. Returns a value that has this layout
/// already unchanged.
template <shape::layout X>
tensor<shape::entered> entering(tensor<X> const& x, [[maybe_unused]] comm::group& tp) {
  if constexpr (std::is_same_v<X, shape::entered>) {
    return x;
  } else {
    return comm::enter(x, tp);
  }
}

/// Returns a layer's result as an ordinary, complete tensor on every rank: reduces a pending sum
/// and gathers a split value.
template <shape::layout X>
at::Tensor unshard(tensor<X> const& x, pass const& in) {
  if constexpr (shape::is_split<X>) {
    return comm::gather(x, *in.tp).local();
  } else {
    return finish(x, in).local();
  }
}
inline at::Tensor unshard(pending_sum const& x, pass const& in) { return finish(x, in).local(); }

/// True if a module may return the type `Given` where its layer declares the type `Said`: equal
/// types, or a pending_sum in place of a tensor<partial>.
template <class Given, class Said>
inline constexpr bool gives = std::is_same_v<Given, Said> ||
                              (std::is_same_v<Said, tensor<shape::partial>> && std::is_same_v<Given, pending_sum>);

}  // namespace redco::nn::detail

namespace redco::nn {

/// Returns a parameter that all ranks hold, for use by a layer with input layout X. If each rank
/// computes only an addend of the parameter's gradient, backward sums the gradient over the ranks.
/// The layer must declare this message with `fact::shared_parameter_facts<X>`.
template <shape::layout X>
at::Tensor shared_parameter(at::Tensor const& parameter, [[maybe_unused]] comm::group& tp) {
  if constexpr (shape::adds_parameter_gradients<X>) {
    return parameter.defined() ? comm::enter(tensor<shape::replicated>(parameter), tp).local() : parameter;
  } else {
    return parameter;
  }
}

}  // namespace redco::nn
