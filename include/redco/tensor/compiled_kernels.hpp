#pragma once

#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/torch.hpp>

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

namespace redco {

/// Compiles kernels for the CUDA device that they first run on and keeps them: a source takes some tenths of a second once per
/// process, device and element type. NVRTC and the driver are opened then; no program is linked to them.
///
/// Errors: exit code 64 where one of the two is not there, 70 with the compiler's log or the driver's words otherwise.
class compiled_kernels final : public kernel_launcher {
 public:
  static compiled_kernels& of_process();

  bool serves(at::Device device) const override { return device.is_cuda(); }
  void run(call const& what, std::span<argument const> arguments) override;

  /// The first number of the compute capability of a CUDA device: 8 of an A100, 9 of an H100.
  int compute_major(at::Device device);

 private:
  /// A device's context, which libtorch uses too, and what code it runs.
  struct device_code {
    int index = 0;
    int major = 0;  // of its compute capability
    void* context = nullptr;
    std::string architecture;
  };
  using key = std::tuple<int, std::string_view, at::ScalarType>;  // device, source or entry, element

  device_code const& device_of(int index);
  void* module_of(device_code const& device, call const& what);
  void* function_of(device_code const& device, call const& what);

  std::mutex mutex_;
  std::map<int, device_code> devices_;
  std::map<key, void*> modules_, functions_;
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tensor/compiled_kernels.inl.hpp>
#endif
