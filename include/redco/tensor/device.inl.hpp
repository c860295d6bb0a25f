#pragma once

#include <redco/tensor/device.hpp>

#include <redco/tensor/detail/cuda_libraries.hpp>

#include <redco/diag/error.hpp>

#include <redco/config.hpp>

#include <c10/core/impl/VirtualGuardImpl.h>

#include <cstdlib>
#include <utility>

namespace redco::tensors::detail {

/// libtorch's CUDA library, opened once per process. Holds the number of CUDA devices, or the
/// reason why none is usable.
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
    multiply_in_tf32(false);
    return {count, {}};
  }
};

/// Returns true if each of the first `count` CUDA devices multiplies bf16 on tensor cores: compute
/// capability 8 or higher (A100 and later).
inline bool cuda_multiplies_bf16(int count) {
  auto const& driver = cuda_driver::of_process();
  for (int i = 0; i < count; ++i)
    if (driver.compute_capability(i).first < 8) return false;
  return true;
}

inline device_choice cuda_devices(std::string why) {
  int const count = cuda_part::of_process().count;
  return {at::kCUDA, count, cuda_multiplies_bf16(count), std::move(why)};
}

/// Returns the choice of devices if the user names none. This is CUDA if it is usable, else the CPU
/// together with the reason.
inline device_choice found_device() {
  if (!shared_library::open({"libcuda.so.1"})) return {.why = "no NVIDIA driver is here"};
  auto const& cuda = cuda_part::of_process();
  if (cuda.count == 0) return {.why = cuda.missing};
  return cuda_devices("found");
}

}  // namespace redco::tensors::detail

namespace redco::tensors {

REDCO_INLINE device_choice choose_device(std::string_view name) {
  if (name == "cpu") return {.why = "asked for"};
  if (name == "auto") {
    char const* const wanted = std::getenv("REDCO_DEVICE");
    if (wanted == nullptr || *wanted == 0 || std::string_view(wanted) == "auto") return detail::found_device();
    device_choice choice = choose_device(wanted);
    choice.why = "REDCO_DEVICE in the environment";
    return choice;
  }
  if (name != "cuda")
    throw error(exit_code::usage,
                "--device " + std::string(name) + " is nothing that this version computes on: give auto, cpu or cuda");
  auto const& cuda = detail::cuda_part::of_process();
  if (cuda.count == 0) throw error(exit_code::usage, "--device cuda cannot be computed on: " + cuda.missing);
  return detail::cuda_devices("asked for");
}

}  // namespace redco::tensors
