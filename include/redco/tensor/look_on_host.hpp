#pragma once

#include <redco/tensor/device.hpp>
#include <redco/tensor/graph_recording.hpp>
#include <redco/tensor/torch.hpp>

namespace redco {

/// Returns f(x in host memory). While a device graph is recorded, f is called again for each later
/// batch of the graph, so f refers to nothing that the graph outlives; a loss whose count depends
/// on the value is refused.
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

/// Calls f(x in host memory), which throws if x is wrong. A recorded device graph calls f again for
/// each later batch.
template <class F>
void check_on_host(at::Tensor const& x, F f) {
  graph_recording::scope const free(nullptr);
  f(on_host(x));
  if (free.before != nullptr) free.before->repeat([x, f] { f(on_host(x)); });
}

/// Returns f(x in host memory) as the count of a loss: labels, tokens, pixels. While a device graph
/// is recorded, the number is a placeholder that `mean::count` takes as it is; each replay weighs
/// the loss by f of its own batch.
template <class F>
double count_on_host(at::Tensor const& x, F f) {
  graph_recording::scope const free(nullptr);
  double const value = f(on_host(x));
  if (free.before == nullptr) return value;
  return free.before->add_count(value, [x, f] { return f(on_host(x)); });
}

}  // namespace redco
