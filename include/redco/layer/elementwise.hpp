#pragma once

#include <redco/layer/featurewise.hpp>
#include <redco/fact/recorder.hpp>

namespace redco::layers::detail {

/// Declares to the recorder `w` the memory of a layer that applies a user's function. The layer
/// saves only its input; backward calls the function again. Backward holds each of the `operations`
/// tensors that the function makes, and its gradient.
constexpr void function_facts(fact::recorder& w, int operations) {
  fact::flow const input = w.activation;
  w.save("input");
  w.produce(input.shape, input.split_dim, input.units);
  w.backward(input);
  for (int i = 0; i < operations; ++i) {
    w.workspace("made_again", input);
    w.workspace("gradient_of_it", input);
  }
}

}  // namespace redco::layers::detail

namespace redco {

/// A layer that applies a lambda to each element: `elementwise<[](auto const& x) { return x *
/// at::sigmoid(x); }>`. The function maps a tensor of any shape to a tensor of equal shape and
/// dtype, without random numbers or captures. Only the input is saved; backward runs the function
/// again. `Operations` is the number of tensors that the function makes, for the planned peak of
/// memory. An input of layout `partial` is a compile error. In a header, or if the lambda contains
/// `>` (g++ 12), name the lambda: `inline constexpr auto f = [](auto const& x) { ... };`. Throws
/// `layer_error` if the function returns another shape or dtype.
template <auto Function, int Operations = 3>
struct elementwise : layers::featurewise_layer {
  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    layers::detail::function_facts(w, Operations);
  }
};

}  // namespace redco
