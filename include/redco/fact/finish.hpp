#pragma once

#include <redco/fact/recorder.hpp>

#include <redco/shape/layout.hpp>

#include <cstdint>
#include <type_traits>

namespace redco::fact::detail {

/// States the facts of reducing a pending sum to layout `Home`: an all-reduce, or, if tokens are
/// split, a reduce-scatter that gives each rank its own tokens. With split tokens each rank adds
/// biases to its own tokens only, so the gradients of the biases are summed over the ranks. Does
/// nothing for other layouts.
template <class X, class Home = replicated>
constexpr void finish_facts(fact::recorder& w) {
  if constexpr (std::is_same_v<X, partial>) {
    extents const shape = w.activation.shape;
    std::int64_t const addends = w.take_addends();
    if constexpr (is_token_split<Home>) {
      w.message(collective::reduce_scatter, false, shape);
      w.message(collective::all_gather, true, shape);
      if (addends > 0) w.message(collective::all_reduce, true, {shape[-1]}, width_kind::compute, addends);
      w.produce(shape, shape.rank - 2, shape[-2], fact::making::collective);
    } else {
      w.message(collective::all_reduce, false, shape);
      w.produce(shape, -1, 0, fact::making::collective);
    }
  }
}

/// States the facts of entering column-parallel layers. The gradient of a replicated activation is
/// summed over the ranks. Split tokens are gathered, and each rank gets its part of the summed
/// gradient. An entered activation adds no facts.
template <class X>
constexpr void enter_facts(fact::recorder& w) {
  if constexpr (std::is_same_v<X, replicated>) w.enter(w.activation);
  if constexpr (is_token_split<X>) {
    flow const part = w.activation;
    flow whole = part;
    whole.split_dim = -1;
    w.reduces(whole, part);
    w.message(collective::all_gather, false, part.shape);
    w.message(collective::reduce_scatter, true, part.shape);
    w.produce(part.shape, -1, 0, fact::making::collective);
  }
}

/// States the facts of unsharding a result: pending sums are reduced, split tokens are gathered.
template <class X>
constexpr void unshard_facts(fact::recorder& w) {
  finish_facts<X>(w);
  if constexpr (is_token_split<X>) {
    w.message(collective::all_gather, false, w.activation.shape);
    w.produce(w.activation.shape, -1, 0, fact::making::collective);
  }
}

}  // namespace redco::fact::detail

namespace redco::fact {

/// States that the gradient of a parameter of this shape, held by all ranks, is summed over the
/// ranks, if a layer with input layout X needs the sum. Call after stating the parameter. The
/// module must read it as `shared_parameter<X>`.
template <class X>
constexpr void shared_parameter_facts(recorder& w, extents const& shape) {
  if constexpr (adds_parameter_gradients<X>) w.message(collective::all_reduce, true, shape);
}

}  // namespace redco::fact
