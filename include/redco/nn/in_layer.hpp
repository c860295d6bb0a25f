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

/// What went wrong inside a layer, with its path: "layer 'h.3.mlp.up' cannot take f32 [4, 7]: why". The words behind it are
/// libtorch's, or those of a user's layer.
class layer_error : public error {
 public:
  layer_error(std::string path, std::string given, std::string why);

  /// The same inside `component`.
  layer_error inside(std::string_view component) const;

 private:
  std::string path_, given_, why_;
};

namespace detail {

/// Throws what is being handled, named: what libtorch or a user's layer threw becomes a layer_error of `component`, which was
/// given `x`; a layer_error gets `component` in front of its path. redco's other errors name their place themselves.
[[noreturn]] void rethrow_in_layer(std::string_view component, at::Tensor const& x);

/// `compute()`, which the layer `component` does with `x`: what it throws and what autograd saves of it gets the layer's name.
/// Costs nothing unless it throws or is watched.
template <class F>
decltype(auto) in_layer(std::string_view component, at::Tensor const& x, F&& compute) {
  saved_watch::layer const here(component);
  try {
    return std::forward<F>(compute)();
  } catch (...) {
    rethrow_in_layer(component, x);
  }
}

/// Returns the local part of an activation of this layout, for a watch.
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

/// The same, seen by the pass' watch of layers, if there is one.
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
