#pragma once

#include <redco/tensor/device.hpp>
#include <redco/tensor/host_copies.hpp>
#include <redco/tensor/torch.hpp>

#include <functional>
#include <memory>

namespace redco {

/// What host code found in a tensor; where the work of a device was recorded meanwhile, `latest` tells it of the batch that is
/// computed now, else it is empty.
template <class T>
struct look {
  T value;
  std::function<T()> latest = {};
};

/// f(x on the host). While the work of a device is recorded, f is called again for each batch that the record then computes: so it
/// refers to nothing that does not live as long.
template <class F>
auto look_on_host(at::Tensor const& x, F f) -> look<decltype(f(x))> {
  host_copies::recording const free(nullptr);
  auto value = f(on_host(x));
  if (free.before == nullptr) return {value};
  auto const cell = std::make_shared<decltype(value)>(value);
  free.before->again.push_back([x, f, cell] { *cell = f(on_host(x)); });
  free.before->told = true;
  return {value, [cell] { return *cell; }};
}

/// The same for what throws where x is wrong, and says nothing else.
template <class F>
void check_on_host(at::Tensor const& x, F f) {
  host_copies::recording const free(nullptr);
  f(on_host(x));
  if (free.before != nullptr) free.before->again.push_back([x, f] { f(on_host(x)); });
}

}  // namespace redco
