#pragma once

#include <redco/nn/pass.hpp>
#include <redco/nn/watches.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/layout.hpp>
#include <redco/diag/error.hpp>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace redco::nn {

/// An exception thrown inside a layer, with the layer's path in its message: "layer 'h.3.mlp.up'
/// cannot take f32 [4, 7]: reason". The reason is the message of libtorch or of a user's layer.
class layer_error : public error {
 public:
  layer_error(std::string path, std::string input, std::string why);

  /// Returns a copy of this error with `component` prepended to the layer's path.
  layer_error inside(std::string_view component) const;

 private:
  std::string path_, input_, why_;
};

}  // namespace redco::nn

namespace redco::nn::detail {

/// Rethrows the exception that is being handled, with the name of the layer `component`. An
/// exception of libtorch or of a user's layer becomes a layer_error, which also shows the layer's
/// input `x`. A layer_error gets `component` prepended to its path. Other redco errors are rethrown
/// unchanged.
[[noreturn]] void rethrow_in_layer(std::string_view component, at::Tensor const& x);

/// Calls compute(), which computes the layer `component` on input `x`, and returns its result. Adds
/// the layer's name to exceptions from the call and to records of tensors that autograd saves.
/// Costs nothing unless an exception is thrown or saved tensors are watched.
template <class F>
decltype(auto) in_layer(std::string_view component, at::Tensor const& x, F&& compute) {
  tensors::saved_watch::layer const here(component);
  try {
    return std::forward<F>(compute)();
  } catch (...) {
    rethrow_in_layer(component, x);
  }
}

/// Returns this rank's part of `x` in the form that a layer watch (an observer of layers) receives.
/// The result has no tensor if `x` is a pending sum or a handle to logits.
template <shape::layout X>
layer_watch::activation seen(tensor<X> const& x) {
  if constexpr (std::is_same_v<X, shape::partial>) return {};
  else return {x.local(), !std::is_same_v<X, shape::entered>};
}
inline layer_watch::activation seen(at::Tensor const& x) { return {x}; }
template <class Handle>
layer_watch::activation seen(Handle const&) {
  return {};
}

/// Calls compute(), which computes the layer `component` on input `x`, and returns its result. Adds
/// the layer's name to exceptions. Reports `x` and the result to the pass's layer watch (an
/// observer of layers), if there is one.
template <shape::layout X, class F>
auto in_layer(std::string_view component, tensor<X> const& x, pass const& in, F&& compute) {
  if (in.layers != nullptr) in.layers->enter(component, seen(x));
  auto y = in_layer(component, x.local(), std::forward<F>(compute));
  if (in.layers != nullptr) in.layers->leave(seen(y));
  return y;
}

}  // namespace redco::nn::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/nn/in_layer.inl.hpp>
#endif
