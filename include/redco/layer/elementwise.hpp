#pragma once

#include <redco/layer/featurewise.hpp>
#include <redco/fact/recorder.hpp>

namespace redco {

namespace detail {

/// What a layer states whose function runs again in backward: its input is saved, and there each tensor that the function makes
/// is held with its gradient.
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

/// A function of each element by itself, as a lambda: `elementwise<[](auto const& x) { return x * at::sigmoid(x); }>`. It is
/// given a tensor of any shape and gives one like it; it draws nothing and captures nothing. In a header, or with a `>` in it,
/// which g++ 12 takes for the end of the arguments, it has a name: `inline constexpr auto f = [](auto const& x) { ... };`.
/// Every layout passes through it but a pending sum. Its input alone is saved: the function runs again in backward,
/// differentiable to any order. `Operations`: how many tensors it makes on its way, for the plan's peak of memory.
/// Errors: `layer_error` where the function gives another shape or dtype.
template <auto Function, int Operations = 3>
struct elementwise : featurewise_layer {
  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    detail::function_facts(w, Operations);
  }
};

}  // namespace redco
