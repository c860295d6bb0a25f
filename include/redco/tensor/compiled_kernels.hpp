#pragma once

#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

namespace redco::tensors {

/// A wrapper of NVRTC, NVIDIA's run-time compiler for CUDA C++. Compiling needs no CUDA device.
class kernel_compiler {
 public:
  /// Returns the only kernel_compiler of the process; the first call opens NVRTC. Throws `error`
  /// with exit code 64 if NVRTC is missing or older than CUDA 11.1; the message says how to install
  /// it.
  static kernel_compiler const& of_process();

  /// Compiles kernels to machine code (cubin) for `architecture`, such as "sm_90". `element` is the
  /// type of the tensors' elements in the source, "float" or "bf16". Throws `error` with exit code
  /// 70 and the compiler's log if compiling fails.
  std::string compile(kernel_source const& source, std::string const& element, std::string const& architecture) const;

 private:
  kernel_compiler();

  using program = void*;
  int (*create_)(program*, char const*, char const*, int, char const* const*, char const* const*) = nullptr;
  int (*compile_)(program, int, char const* const*) = nullptr;
  int (*log_size_)(program, std::size_t*) = nullptr;
  int (*log_)(program, char*) = nullptr;
  int (*code_size_)(program, std::size_t*) = nullptr;
  int (*code_)(program, char*) = nullptr;
  int (*destroy_)(program*) = nullptr;
};

/// A kernel launcher that compiles CUDA kernels with NVRTC at their first use and caches them. Each
/// source is compiled once per process, device and element type, in some tenths of a second. NVRTC
/// and the CUDA driver are opened at run time, so programs do not link to them.
///
/// Throws `error` with exit code 64 if NVRTC or the driver is missing. Throws `error` with exit
/// code 70 and the compiler's or driver's message if compiling or launching fails.
class compiled_kernels final : public kernel_launcher {
 public:
  static compiled_kernels& of_process();

  bool serves(at::Device device) const override { return device.is_cuda(); }
  void run(call const& launch, std::span<argument const> arguments) override;

  /// Returns the major compute capability of a CUDA device: 8 for an A100, 9 for an H100.
  int compute_major(at::Device device);

 private:
  /// A CUDA device as the launcher sees it: its primary context (shared with libtorch) and its
  /// architecture, such as "sm_90".
  struct device_code {
    int index = 0;
    int major = 0;  // major compute capability
    void* context = nullptr;
    std::string architecture;
  };
  // Device index, name of the source (modules) or of the entry (functions), element type.
  using key = std::tuple<int, std::string_view, at::ScalarType>;

  device_code const& device_of(int index);
  void* module_of(device_code const& device, call const& launch);
  void* function_of(device_code const& device, call const& launch);

  std::mutex mutex_;
  std::map<int, device_code> devices_;
  std::map<key, void*> modules_, functions_;
};

}  // namespace redco::tensors

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tensor/compiled_kernels.inl.hpp>
#endif
