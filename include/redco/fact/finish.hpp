#pragma once

#include <redco/fact/recorder.hpp>

#include <redco/shape/layout.hpp>

#include <cstdint>
#include <type_traits>

namespace redco::fact::detail {

/// Declares to the recorder `w` the reduction of an activation of layout X to layout `Home`. A
/// pending sum is all-reduced, or reduce-scattered if `Home` splits tokens. Split tokens also need
/// a gradient sum over the ranks for biases, because each rank adds biases to its own tokens only.
/// Does nothing for other layouts X.
template <class X, class Home = shape::replicated>
constexpr void finish_facts(recorder& w) {
  if constexpr (std::is_same_v<X, shape::partial>) {
    extents const shape = w.activation.shape;
    std::int64_t const addends = w.take_addends();
    if constexpr (shape::is_token_split<Home>) {
      w.message(shape::collective::reduce_scatter, false, shape);
      w.message(shape::collective::all_gather, true, shape);
      w.sum_of_gradient({shape[-1]}, addends);
      w.produce(shape, shape.rank - 2, shape[-2], making::collective);
    } else {
      w.message(shape::collective::all_reduce, false, shape);
      w.produce(shape, -1, 0, making::collective);
    }
  }
}

/// Declares to the recorder `w` that an activation of layout X enters column-parallel layers. A
/// replicated activation gets a gradient sum over the ranks. Split tokens are gathered, and their
/// summed gradient is scattered. Does nothing if the activation has entered already.
template <class X>
constexpr void enter_facts(recorder& w) {
  if constexpr (std::is_same_v<X, shape::replicated>) w.enter(w.activation);
  if constexpr (shape::is_token_split<X>) {
    flow const part = w.activation;
    flow whole = part;
    whole.split_dim = -1;
    w.reduces(whole, part);
    w.message(shape::collective::all_gather, false, part.shape);
    w.message(shape::collective::reduce_scatter, true, part.shape);
    w.produce(part.shape, -1, 0, making::collective);
  }
}

/// Declares to the recorder `w` that the result of a model becomes complete on every rank: a
/// pending sum is reduced, split tokens are gathered.
template <class X>
constexpr void unshard_facts(recorder& w) {
  finish_facts<X>(w);
  if constexpr (shape::is_token_split<X>) {
    w.message(shape::collective::all_gather, false, w.activation.shape);
    w.produce(w.activation.shape, -1, 0, making::collective);
  }
}

}  // namespace redco::fact::detail

namespace redco::fact {

/// Declares to the recorder `w` a gradient sum over the ranks for a parameter of this shape that
/// all ranks hold. Does nothing if the layer's input layout X needs no such sum. Call it after
/// declaring the parameter. The module must read the parameter with shared_parameter<X>().
template <class X>
constexpr void shared_parameter_facts(recorder& w, extents const& shape) {
  if constexpr (shape::adds_parameter_gradients<X>) w.sum_of_gradient(shape);
}

}  // namespace redco::fact
