#pragma once

#include <redco/tensor/graph_recording.hpp>
#include <redco/tensor/host_copies.hpp>
#include <redco/tensor/torch.hpp>

#include <string>
#include <string_view>

namespace redco {

/// Where host code reads and writes tensors through pointers: files, messages between threads, what a user gives.
inline at::Device host_device() { return at::kCPU; }

inline bool in_host_memory(at::Tensor const& x) { return x.device() == host_device(); }

/// x as host code reads it: contiguous, and a copy only where it is not. It waits for the device, unless host_copies knows x.
/// Errors: exit code 64 while the work of a device is recorded (see look_on_host).
inline at::Tensor on_host(at::Tensor const& x) {
  graph_recording::refuse_host_read();
  if (in_host_memory(x)) return x.contiguous();
  auto const known = host_copies::of_thread().find(x);
  return (known ? *known : x.to(host_device())).contiguous();
}

/// The devices on which the ranks of this process compute.
struct device_choice {
  at::DeviceType type = at::kCPU;
  int count = 1;                ///< of this type on this host
  bool multiplies_bf16 = true;  ///< on tensor cores, if these are CUDA devices
  std::string why = {};         ///< "asked for", or what has been found

  /// The one of a rank.
  at::Device of_rank(int rank) const {
    return type == at::kCPU ? host_device() : at::Device(type, static_cast<at::DeviceIndex>(rank % count));
  }
};

/// What `--device` names: "cpu"; "cuda", for which libtorch's CUDA library is opened; or "auto": what REDCO_DEVICE names in the
/// environment, else cuda where a device and the libraries are, else cpu. CUDA computes products of f32 in f32 unless
/// `multiply_in_tf32` allows less.
/// Errors: exit code 64 for other words, and for cuda with what is missing and what installs it.
device_choice choose_device(std::string_view name);

/// The device of rank 0 among those. Errors: as choose_device.
inline at::Device device_of(std::string_view name) { return choose_device(name).of_rank(0); }

/// Whether CUDA devices may round the factors of f32 products to TF32, which has the 10 bits of f16 and the range of f32. For the
/// whole process.
void multiply_in_tf32(bool allowed);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tensor/device.inl.hpp>
#endif
