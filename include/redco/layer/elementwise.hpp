#pragma once

#include <redco/layer/featurewise.hpp>
#include <redco/fact/recorder.hpp>

namespace redco {

namespace detail {

/// States the facts of a layer whose function runs again in backward. Only its input is saved.
/// Backward holds each of the `operations` tensors that the function makes, with its gradient.
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

}  // namespace detail

/// A layer that applies a lambda to each element:
/// `elementwise<[](auto const& x) { return x * at::sigmoid(x); }>`. The function takes a tensor of
/// any shape and returns one like it. It draws no random numbers and captures nothing. In a header,
/// or with a `>` inside (g++ 12 ends the arguments there), name it:
/// `inline constexpr auto f = [](auto const& x) { ... };`. Only the input is saved; the function
/// runs again in backward, differentiable to any order. `Operations`, the number of tensors that it
/// makes, is for the planned peak of memory. Accepts every layout except a pending sum. Throws
/// `layer_error` if the function returns another shape or dtype.
template <auto Function, int Operations = 3>
struct elementwise : featurewise_layer {
  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    detail::function_facts(w, Operations);
  }
};

}  // namespace redco
