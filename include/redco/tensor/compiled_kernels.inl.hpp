#pragma once

#include <redco/tensor/compiled_kernels.hpp>

#include <redco/tensor/detail/cuda_libraries.hpp>
#include <redco/tensor/kernel_prelude.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <c10/core/impl/VirtualGuardImpl.h>

#include <array>
#include <dlfcn.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace redco::tensors::detail {

/// Loads (dlopen) all libraries in the folder of the library that contains `function` if their file
/// names begin with `name`. NVRTC opens its builtins library by name alone, which succeeds if that
/// library is already loaded.
inline void open_next_to(void* function, std::string_view name) {
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
  detail::open_next_to(reinterpret_cast<void*>(create_), "libnvrtc-builtins.so");
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

/// Returns the only compiled_kernels object of the process. It is never destroyed, because the CUDA
/// driver may already be unloaded when static objects are destroyed.
REDCO_INLINE compiled_kernels& compiled_kernels::of_process() {
  static auto& all = *new compiled_kernels;
  return all;
}

}  // namespace redco::tensors

namespace redco::tensors::detail {

REDCO_INLINE kernel_launcher& compiled_launcher() { return compiled_kernels::of_process(); }

}  // namespace redco::tensors::detail

namespace redco::tensors {

REDCO_INLINE compiled_kernels::device_code const& compiled_kernels::device_of(int index) {
  auto const [at, fresh] = devices_.try_emplace(index);
  device_code& device = at->second;
  if (device.context != nullptr) return device;
  auto const& driver = detail::cuda_driver::of_process();
  int handle = 0;
  driver.check(driver.device_get(&handle, index), "find device " + std::to_string(index));
  auto const [major, minor] = driver.compute_capability(index);
  device.index = index;
  device.major = major;
  device.architecture = "sm_" + std::to_string(major) + std::to_string(minor);
  driver.check(driver.retain_context(&device.context, handle), "take the device's context");
  return device;
}

REDCO_INLINE void* compiled_kernels::module_of(device_code const& device, call const& launch) {
  void*& module = modules_[{device.index, launch.source.name, launch.element}];
  if (module != nullptr) return module;
  auto const& driver = detail::cuda_driver::of_process();
  std::string const code = kernel_compiler::of_process().compile(
      launch.source, launch.element == at::kBFloat16 ? "bf16" : "float", device.architecture);
  driver.check(driver.load_module(&module, code.data()), std::string("load ") + launch.source.name);
  return module;
}

REDCO_INLINE void* compiled_kernels::function_of(device_code const& device, call const& launch) {
  void*& function = functions_[{device.index, launch.entry, launch.element}];
  if (function != nullptr) return function;
  auto const& driver = detail::cuda_driver::of_process();
  driver.check(driver.find_function(&function, module_of(device, launch), launch.entry),
               std::string("find ") + launch.entry);
  return function;
}

REDCO_INLINE int compiled_kernels::compute_major(at::Device any) {
  auto const device = any.has_index() ? any : c10::impl::VirtualGuardImpl(any.type()).getDevice();
  std::lock_guard const lock(mutex_);
  return device_of(device.index()).major;
}

REDCO_INLINE void compiled_kernels::run(call const& launch, std::span<argument const> arguments) {
  c10::impl::VirtualGuardImpl const cuda(launch.device.type());
  auto const device = launch.device.has_index() ? launch.device : cuda.getDevice();
  auto const& driver = detail::cuda_driver::of_process();
  void *context = nullptr, *function = nullptr;
  {
    std::lock_guard const lock(mutex_);
    device_code const& code = device_of(device.index());
    context = code.context;
    detail::cuda_context_guard const here(driver, context);
    function = function_of(code, launch);
  }
  std::vector<void*> values;
  values.reserve(arguments.size());
  for (argument const& one : arguments) values.push_back(const_cast<void*>(one.value));
  void* const stream = cuda.getStream(device).native_handle();
  detail::cuda_context_guard const here(driver, context);
  driver.check(driver.launch(function, static_cast<unsigned>(launch.blocks), 1, 1, kernel_threads, 1, 1, 0, stream,
                             values.data(), nullptr),
               std::string("run ") + launch.entry);
}

}  // namespace redco::tensors
