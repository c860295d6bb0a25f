#pragma once

#include <redco/tensor/torch.hpp>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <dlfcn.h>

/// Returns the name of a CUDA device from its driver, such as "NVIDIA H100 80GB HBM3". Empty for
/// other devices, or if the driver gives no name.
inline std::string device_name(at::Device device) {
  if (device.type() != at::kCUDA) return {};
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return {};
  auto const init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto const get = reinterpret_cast<int (*)(int*, int)>(dlsym(driver, "cuDeviceGet"));
  auto const name = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetName"));
  int which = 0;
  std::array<char, 256> text{};
  if (init == nullptr || get == nullptr || name == nullptr || init(0) != 0 || get(&which, device.index()) != 0 ||
      name(text.data(), static_cast<int>(text.size()), which) != 0)
    return {};
  return text.data();
}

/// Returns the peak speed of dense bf16 matrix products in TFLOP/s, from the data sheet of the
/// device with this name; 0: unknown.
constexpr double bf16_peak_tflops(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, double>, 7> known{{{"H100 PCIe", 756},
                                                                      {"H100 NVL", 835},
                                                                      {"H100", 989},
                                                                      {"H200 NVL", 835},
                                                                      {"H200", 989},
                                                                      {"A100", 312},
                                                                      {"A800", 312}}};
  for (auto const& [part, peak] : known)
    if (name.find(part) != std::string_view::npos) return peak;
  return 0;
}
static_assert(bf16_peak_tflops("NVIDIA H100 80GB HBM3") == 989 && bf16_peak_tflops("NVIDIA H100 PCIe") == 756 &&
              bf16_peak_tflops("NVIDIA A100-SXM4-80GB") == 312 && bf16_peak_tflops("Tesla T4") == 0);
