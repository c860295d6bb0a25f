#pragma once

#include <redco/tensor/device.hpp>

#include <redco/tensor/detail/shared_library.hpp>

#include <redco/diag/error.hpp>

#include <redco/config.hpp>

#include <c10/core/impl/VirtualGuardImpl.h>

namespace redco {

namespace detail {

/// libtorch's part for CUDA, opened once for the process, and how many devices it has; where it has none, why.
struct cuda_part {
  int count = 0;
  std::string missing = {};

  static cuda_part const& of_process() {
    static cuda_part const part = opened();
    return part;
  }

 private:
  static cuda_part opened() {
    if (!c10::impl::hasDeviceGuardImpl(at::kCUDA)) {
      auto const library = shared_library::open({"libtorch_cuda.so"}, RTLD_NOW | RTLD_GLOBAL);
      if (!library || !c10::impl::hasDeviceGuardImpl(at::kCUDA))
        return {0, "libtorch's CUDA library does not open (" + library.why() +
                       "): scripts/setup --cuda installs what it needs"};
    }
    int const count = c10::impl::VirtualGuardImpl(at::kCUDA).deviceCount();
    if (count == 0) return {0, "no CUDA device was found: nvidia-smi, which comes with NVIDIA's driver, must list one"};
    if (!at::globalContext().hasCUDA())
      return {0, "libtorch was asked for CUDA before its CUDA library was opened: make the deployer first"};
    at::globalContext().setAllowTF32CuBLAS(false);
    at::globalContext().setAllowTF32CuDNN(false);
    return {count, {}};
  }
};

}  // namespace detail

REDCO_INLINE device_choice choose_device(std::string_view name) {
  if (name == "cpu") return {};
  if (name != "cuda")
    throw error(exit_code::usage,
                "--device " + std::string(name) + " is nothing that this version computes on: give cpu or cuda");
  auto const& cuda = detail::cuda_part::of_process();
  if (cuda.count == 0) throw error(exit_code::usage, "--device cuda cannot be computed on: " + cuda.missing);
  return {at::kCUDA, cuda.count};
}

}  // namespace redco
