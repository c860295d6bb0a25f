#pragma once

#include <redco/tensor/kernel_compiler.hpp>

#include <redco/tensor/detail/shared_library.hpp>
#include <redco/tensor/kernel_prelude.hpp>

#include <redco/diag/error.hpp>

#include <redco/config.hpp>

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <dlfcn.h>

namespace redco::tensors::detail {

/// Loads (dlopen) all libraries in the folder of the library that contains `function` if their file
/// names begin with `name`. NVRTC opens its builtins library by name alone, which succeeds if that
/// library is already loaded.
inline void open_beside(void* function, std::string_view name) {
  Dl_info from{};
  if (dladdr(function, &from) == 0 || from.dli_fname == nullptr) return;
  std::error_code none;
  for (auto const& one : std::filesystem::directory_iterator(std::filesystem::path(from.dli_fname).parent_path(), none))
    if (one.path().filename().string().starts_with(name)) dlopen(one.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
}

}  // namespace redco::tensors::detail

namespace redco::tensors {

REDCO_INLINE kernel_compiler const& kernel_compiler::of_process() {
  static kernel_compiler const compiler;
  return compiler;
}

REDCO_INLINE kernel_compiler::kernel_compiler() {
  auto const library = detail::shared_library::open({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"});
  if (!library)
    throw error(exit_code::usage,
                "kernels for CUDA need NVRTC, which compiles them, and it is not here (" + library.why() +
                    "): scripts/setup --cuda installs it; REDCO_KERNELS=composed in the environment does without");
  if (!library.find(create_, "nvrtcCreateProgram") || !library.find(compile_, "nvrtcCompileProgram") ||
      !library.find(log_size_, "nvrtcGetProgramLogSize") || !library.find(log_, "nvrtcGetProgramLog") ||
      !library.find(code_size_, "nvrtcGetCUBINSize") || !library.find(code_, "nvrtcGetCUBIN") ||
      !library.find(destroy_, "nvrtcDestroyProgram"))
    throw error(exit_code::usage,
                "the NVRTC that was found is older than CUDA 11.1: scripts/setup --cuda installs one");
  detail::open_beside(reinterpret_cast<void*>(create_), "libnvrtc-builtins.so");
}

REDCO_INLINE std::string kernel_compiler::compile(kernel_source const& source, std::string const& element,
                                                  std::string const& architecture) const {
  std::string const name = std::string(source.name) + ".cu", target = "--gpu-architecture=" + architecture;
  std::string const text =
      kernel_prelude + ("\nusing element = " + element) + ";\n#line 1 \"" + name + "\"\n" + source.text;
  program made = nullptr;
  int status = create_(&made, text.c_str(), name.c_str(), 0, nullptr, nullptr);
  std::array const options{target.c_str(), "--std=c++17"};
  if (status == 0) status = compile_(made, static_cast<int>(options.size()), options.data());
  std::string code, log;
  std::size_t size = 0;
  if (status == 0 && code_size_(made, &size) == 0) {
    code.resize(size);
    status = code_(made, code.data());
  } else if (made != nullptr && log_size_(made, &size) == 0) {
    log.resize(size);
    log_(made, log.data());
  }
  if (made != nullptr) destroy_(&made);
  if (status != 0 || code.empty())
    throw error(exit_code::internal, "NVRTC does not compile " + name + " of " + element + " for " + architecture +
                                         " (status " + std::to_string(status) + "):\n" + log.c_str());
  return code;
}

}  // namespace redco::tensors
