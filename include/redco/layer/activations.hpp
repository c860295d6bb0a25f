#pragma once

#include <redco/layer/extent_of.hpp>
#include <redco/layer/layer.hpp>
#include <redco/fact/recorder.hpp>

#include <cstdint>

namespace redco::layers {

/// A base of layers that act on each feature independently, so that features may be split over
/// ranks. Such layers save their input for backward and accept every layout except a pending sum.
struct featurewise_layer {
  using layer_concept = leaf_tag;
  static constexpr bool featurewise = true;
  static constexpr bool by_token = true;

  template <class X>
  using out = typename detail::takes<detail::needs::value, X, X>::type;

  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    fact::flow const input = w.activation;
    w.save("input");
    w.produce(input.shape, input.split_dim, input.units);
    w.backward(input);
  }
};

/// Activation functions, applied to each feature independently.
enum class activation_kind : unsigned char {
  gelu,  ///< x/2 * (1 + erf(x / sqrt(2))) (Hendrycks and Gimpel 2016)
  /// x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))), the approximation of GELU that GPT-2 uses.
  gelu_tanh,
  quick_gelu,  ///< x * sigmoid(1.702 x)
  relu,        ///< max(x, 0)
  silu,        ///< x * sigmoid(x) (Elfwing et al. 2017)
  tanh,
};

/// Returns true if the derivative of the activation function is computed from the function's
/// output. Then the layer saves its output for backward, which the following layer usually saves
/// anyway.
constexpr bool keeps_output(activation_kind kind) {
  return kind == activation_kind::relu || kind == activation_kind::tanh;
}

/// A layer that applies the activation function `Kind` to each element. `Kind` is an
/// activation_kind or a function of the model's config. Saves its input for backward, or its output
/// if the derivative can be computed from the output.
template <auto Kind>
struct activation : featurewise_layer {
  static constexpr auto kind = Kind;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    fact::flow const input = w.activation;
    bool const output = keeps_output(extent_of<Kind>(config));
    if (!output) w.save("input");
    w.produce(input.shape, input.split_dim, input.units);
    if (output) w.save("output");
    w.backward(input);
  }
};

/// Layer with the exact GELU function (Hendrycks and Gimpel 2016): x/2 * (1 + erf(x / sqrt(2))).
using exact_gelu = activation<activation_kind::gelu>;

/// A layer that multiplies its input by the constant Factor, which is first rounded to the compute
/// dtype if `Rounded` is true.
template <auto Factor, bool Rounded = false>
struct scale : featurewise_layer {
  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    if (static_cast<double>(extent_of<Factor>(config)) == 1) return;
    fact::flow const input = w.activation;
    w.produce(input.shape, input.split_dim, input.units);
    w.backward(input);
  }
};

}  // namespace redco::layers

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

/// Layer with the tanh approximation of GELU that GPT-2 uses (Hendrycks and Gimpel 2016): x/2 * (1
/// + tanh(sqrt(2/pi) * (x + 0.044715 x^3))).
using gelu = layers::activation<layers::activation_kind::gelu_tanh>;

/// Layer with the function max(x, 0). Saves its result for backward instead of its input: the
/// derivative can be computed from both, and the following layer usually saves the result anyway.
using relu = layers::activation<layers::activation_kind::relu>;

/// Layer with the SiLU function x * sigmoid(x) (Elfwing et al. 2017).
using silu = layers::activation<layers::activation_kind::silu>;

/// Layer with the hyperbolic tangent as activation function.
using tanh_layer = layers::activation<layers::activation_kind::tanh>;

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

/// A layer that applies a lambda to each row of features: `rowwise<[](auto const& x) { return x /
/// x.norm(2, -1, true); }>`. The function maps a tensor [..., features] to a tensor of equal shape
/// and dtype, without random numbers or captures. `Operations` is the number of tensors that it
/// makes. Compile error: redco[S008] if features are split over ranks. Throws `layer_error` if the
/// function returns another shape or dtype.
template <auto Function, int Operations = 3>
struct rowwise {
  using layer_concept = layers::leaf_tag;

  template <class X>
  using out = typename layers::detail::takes<layers::detail::needs::features_alike, X, X>::type;

  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    layers::detail::function_facts(w, Operations);
  }
};

}  // namespace redco
