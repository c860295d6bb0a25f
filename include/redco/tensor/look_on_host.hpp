#pragma once

#include <redco/tensor/device.hpp>
#include <redco/tensor/host_copies.hpp>
#include <redco/tensor/torch.hpp>

#include <functional>
#include <memory>
#include <utility>

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
  auto& copies = host_copies::of_thread();
  auto* const recorded = std::exchange(copies.recorded, nullptr);
  struct restored {
    host_copies& copies;
    decltype(recorded) before;
    ~restored() { copies.recorded = before; }
  } const restore{copies, recorded};
  auto value = f(on_host(x));
  if (recorded == nullptr) return {value};
  auto const cell = std::make_shared<decltype(value)>(value);
  recorded->push_back([x, f, cell] { *cell = f(on_host(x)); });
  return {value, [cell] { return *cell; }};
}

}  // namespace redco
