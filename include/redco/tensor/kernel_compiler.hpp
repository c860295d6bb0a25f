#pragma once

#include <redco/tensor/kernel_source.hpp>

#include <cstddef>
#include <string>

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

}  // namespace redco::tensors

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tensor/kernel_compiler.inl.hpp>
#endif
