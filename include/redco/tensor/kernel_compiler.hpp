#pragma once

#include <redco/tensor/kernel_source.hpp>

#include <cstddef>
#include <string>

namespace redco {

/// NVRTC, which compiles CUDA C++ for a device and needs none itself.
class kernel_compiler {
 public:
  /// Opens it, once for the process. Errors: exit code 64 that says where it was looked for and what installs it.
  static kernel_compiler const& of_process();

  /// A device's machine code for a source whose elements are `element`, "float" or "bf16"; `architecture` is as "sm_90".
  /// Errors: exit code 70 with the compiler's log.
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

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tensor/kernel_compiler.inl.hpp>
#endif
