#pragma once

#include <redco/nn/layer_watch.hpp>
#include <redco/nn/pass.hpp>
#include <redco/tensor/saved_watch.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/layout.hpp>
#include <redco/diag/error.hpp>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace redco {

/// An exception from inside a layer, with the layer's path: "layer 'h.3.mlp.up' cannot take f32 [4,
/// 7]: reason". The reason is libtorch's message, or that of a user's layer.
class layer_error : public error {
 public:
  layer_error(std::string path, std::string given, std::string why);

  /// Returns this error with `component` prepended to the path.
  layer_error inside(std::string_view component) const;

 private:
  std::string path_, given_, why_;
};

namespace detail {

/// Rethrows the exception in flight with the layer's name. An exception of libtorch or of a user's
/// layer becomes a layer_error of `component`, which was given `x`. A layer_error gets `component`
/// prepended to its path. Other redco errors are rethrown unchanged.
[[noreturn]] void rethrow_in_layer(std::string_view component, at::Tensor const& x);

/// Runs compute(), the work of layer `component` on `x`, and returns its result. Exceptions, and
/// tensors that autograd saves, get the layer's name. Costs nothing unless an exception is thrown
/// or a watch is active.
template <class F>
decltype(auto) in_layer(std::string_view component, at::Tensor const& x, F&& compute) {
  saved_watch::layer const here(component);
  try {
    return std::forward<F>(compute)();
  } catch (...) {
    rethrow_in_layer(component, x);
  }
}

/// Returns this rank's part of an activation, as a layer watch sees it; an empty one for a pending
/// sum or a handle.
template <layout X>
layer_watch::activation seen(tensor<X> const& x) {
  if constexpr (std::is_same_v<X, partial>) return {};
  else return {x.local(), !std::is_same_v<X, entered>};
}
inline layer_watch::activation seen(at::Tensor const& x) { return {x}; }
template <class Handle>
layer_watch::activation seen(Handle const&) {
  return {};
}

/// Runs compute() as the layer `component`, as the overload above, and reports `x` and the result
/// to the pass's layer watch, if there is one.
template <layout X, class F>
auto in_layer(std::string_view component, tensor<X> const& x, pass const& in, F&& compute) {
  if (in.layers != nullptr) in.layers->enter(component, seen(x));
  auto y = in_layer(component, x.local(), std::forward<F>(compute));
  if (in.layers != nullptr) in.layers->leave(seen(y));
  return y;
}

}  // namespace detail

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/nn/in_layer.inl.hpp>
#endif
