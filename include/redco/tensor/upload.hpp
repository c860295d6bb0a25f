#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/meta/aggregate.hpp>

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace redco::tensors {

/// Calls f(at::Tensor&) for each defined tensor in `x`. `x` may be a tensor, a plain struct, a
/// container, a pair, a tuple or an optional, nested in any way. Skips const objects, classes with
/// a base class, and classes with constructors.
template <class T, class F>
void for_each_tensor(T& x, F const& f) {
  [[maybe_unused]] auto const each = [&f](auto&... parts) { (for_each_tensor(parts, f), ...); };
  if constexpr (std::is_const_v<T> || std::is_scalar_v<T>) {
    return;
  } else if constexpr (std::is_same_v<T, at::Tensor>) {
    if (x.defined()) f(x);
  } else if constexpr (requires { x.has_value(), *x; }) {
    if (x.has_value()) for_each_tensor(*x, f);
  } else if constexpr (std::is_array_v<T>) {
    for (auto& one : x) for_each_tensor(one, f);
  } else if constexpr (requires { x.begin(), x.end(); }) {
    if constexpr (std::is_lvalue_reference_v<decltype(*x.begin())>)
      if constexpr (!std::is_scalar_v<std::remove_cvref_t<decltype(*x.begin())>>)
        for (auto& one : x) for_each_tensor(one, f);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    std::apply(each, x);
  } else if constexpr (meta::plain_struct<T>) {
    meta::for_each_field(x, [&f](auto& member) { for_each_tensor(member, f); });
  }
}

/// Copies of a batch's tensors from CPU to device memory, in flight while the device computes
/// earlier work. They read pinned memory and use a stream that belongs to the copying thread.
class upload {
 public:
  upload() = default;

  /// Starts to copy each tensor in `batch` to `device`, and replaces it in `batch` by the device
  /// tensor. Tensors that are already on `device` stay as they are. See for_each_tensor for the
  /// tensors found.
  template <class Batch>
  upload(Batch& batch, at::Device device) {
    begin(device);
    for_each_tensor(batch, [&](at::Tensor& x) { x = copied(x, device); });
    end(device);
  }

  upload(upload&&) = default;
  upload& operator=(upload&&) = default;
  ~upload() = default;

  /// Makes the calling thread's stream wait for the copies. Registers the CPU tensors in the
  /// thread's cpu_copies table until its next `arrive`. The thread that computes with the batch
  /// must call it.
  void arrive();

 private:
  struct pair {
    at::Tensor there, here;
  };

  void begin(at::Device device);
  void end(at::Device device);
  at::Tensor copied(at::Tensor const& x, at::Device device);

  std::vector<pair> all_;
  std::optional<c10::Stream> stream_;
  std::optional<c10::Event> done_;
};

}  // namespace redco::tensors

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tensor/upload.inl.hpp>
#endif
