#pragma once

#include <redco/tensor/graph_recording.hpp>
#include <redco/tensor/host_copies.hpp>
#include <redco/tensor/torch.hpp>

#include <string>
#include <string_view>

namespace redco::tensors {

/// Returns the CPU device. Host code accesses tensors on it through pointers, for files, for
/// messages between threads, and for tensors of the user.
inline at::Device host_device() { return at::kCPU; }

inline bool in_host_memory(at::Tensor const& x) { return x.device() == host_device(); }

/// Returns the values of `x` in contiguous host memory; copies only if `x` is on a device or not
/// contiguous. Waits for the device unless host_copies has a host copy of `x`. Throws `error` with
/// exit code 64 while a device graph is recorded; see look_on_host.
inline at::Tensor on_host(at::Tensor const& x) {
  graph_recording::refuse_host_read();
  if (in_host_memory(x)) return x.contiguous();
  auto const known = host_copies::of_thread().find(x);
  return (known ? *known : x.to(host_device())).contiguous();
}

/// A choice of the devices on which the ranks of this process compute.
struct device_choice {
  at::DeviceType type = at::kCPU;
  int count = 1;  ///< number of devices of the chosen type on this host
  /// True if all chosen devices multiply bf16 on tensor cores. Meaningful for CUDA devices only.
  bool multiplies_bf16 = true;
  /// Reason for the choice, for messages: "asked for", or a description of the devices found.
  std::string why = {};

  /// Returns the device of rank number `rank`. CUDA devices are assigned to the ranks round-robin.
  at::Device of_rank(int rank) const {
    return type == at::kCPU ? host_device() : at::Device(type, static_cast<at::DeviceIndex>(rank % count));
  }
};

/// Returns the choice of devices for `name`, a value of the option `--device`: "cpu", "cuda" or
/// "auto". "cuda" opens libtorch's CUDA library and disables TF32. "auto" uses the environment
/// variable REDCO_DEVICE if set, else CUDA if it is usable, else the CPU.
///
/// Throws `error` with exit code 64 for any other name. Throws it for "cuda" if CUDA is not usable;
/// the message says which package is missing.
device_choice choose_device(std::string_view name);

/// Returns the device of rank 0 for `name`, a value of the option `--device`. Throws the errors of
/// choose_device.
inline at::Device device_of(std::string_view name) { return choose_device(name).of_rank(0); }

/// Allows or forbids CUDA devices to round the factors of f32 products to TF32 (10 mantissa bits as
/// f16, range of f32). Applies to the whole process.
void multiply_in_tf32(bool allowed);

}  // namespace redco::tensors

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tensor/device.inl.hpp>
#endif
