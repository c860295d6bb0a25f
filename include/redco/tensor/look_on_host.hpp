#pragma once

#include <redco/tensor/device.hpp>
#include <redco/tensor/graph_recording.hpp>
#include <redco/tensor/torch.hpp>

namespace redco::tensors {

/// Returns f(y), where `y` has the values of `x` in host memory. While a device graph is recorded,
/// `f` is stored and called again for each later batch. In this case, `f` must not refer to objects
/// destroyed before the graph. A recorded loss must not use the result as its count; see
/// `count_on_host`.
template <class F>
auto look_on_host(at::Tensor const& x, F f) -> decltype(f(x)) {
  graph_recording::scope const free(nullptr);
  auto value = f(on_host(x));
  if (free.before != nullptr) {
    free.before->repeat([x, f] { f(on_host(x)); });
    free.before->hand_out();
  }
  return value;
}

/// Calls f(y), where `y` has the values of `x` in host memory; `f` throws if a value is wrong.
/// While a device graph is recorded, `f` is stored and called again for each later batch.
template <class F>
void check_on_host(at::Tensor const& x, F f) {
  graph_recording::scope const free(nullptr);
  f(on_host(x));
  if (free.before != nullptr) free.before->repeat([x, f] { f(on_host(x)); });
}

/// Returns f(y), where `y` has the values of `x` in host memory, as the count of a loss (number of
/// labels, tokens or pixels). While a device graph is recorded, the result is a placeholder, which
/// must be passed to `mean::count` unchanged. Each replay then weighs the loss by the count of its
/// own batch.
template <class F>
double count_on_host(at::Tensor const& x, F f) {
  graph_recording::scope const free(nullptr);
  double const value = f(on_host(x));
  if (free.before == nullptr) return value;
  return free.before->add_count(value, [x, f] { return f(on_host(x)); });
}

}  // namespace redco::tensors
