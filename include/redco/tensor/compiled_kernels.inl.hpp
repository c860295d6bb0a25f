#pragma once

#include <redco/tensor/compiled_kernels.hpp>

#include <redco/tensor/detail/cuda_driver.hpp>
#include <redco/tensor/kernel_compiler.hpp>
#include <redco/config.hpp>

#include <c10/core/impl/VirtualGuardImpl.h>

#include <string>
#include <vector>

namespace redco::tensors {

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

REDCO_INLINE void* compiled_kernels::module_of(device_code const& device, call const& what) {
  void*& module = modules_[{device.index, what.source.name, what.element}];
  if (module != nullptr) return module;
  auto const& driver = detail::cuda_driver::of_process();
  std::string const code = kernel_compiler::of_process().compile(
      what.source, what.element == at::kBFloat16 ? "bf16" : "float", device.architecture);
  driver.check(driver.load_module(&module, code.data()), std::string("load ") + what.source.name);
  return module;
}

REDCO_INLINE void* compiled_kernels::function_of(device_code const& device, call const& what) {
  void*& function = functions_[{device.index, what.entry, what.element}];
  if (function != nullptr) return function;
  auto const& driver = detail::cuda_driver::of_process();
  driver.check(driver.find_function(&function, module_of(device, what), what.entry), std::string("find ") + what.entry);
  return function;
}

REDCO_INLINE int compiled_kernels::compute_major(at::Device any) {
  auto const device = any.has_index() ? any : c10::impl::VirtualGuardImpl(any.type()).getDevice();
  std::lock_guard const lock(mutex_);
  return device_of(device.index()).major;
}

REDCO_INLINE void compiled_kernels::run(call const& what, std::span<argument const> arguments) {
  c10::impl::VirtualGuardImpl const cuda(what.device.type());
  auto const device = what.device.has_index() ? what.device : cuda.getDevice();
  auto const& driver = detail::cuda_driver::of_process();
  void *context = nullptr, *function = nullptr;
  {
    std::lock_guard const lock(mutex_);
    device_code const& code = device_of(device.index());
    context = code.context;
    detail::cuda_context_guard const here(driver, context);
    function = function_of(code, what);
  }
  std::vector<void*> values;
  values.reserve(arguments.size());
  for (argument const& one : arguments) values.push_back(const_cast<void*>(one.value));
  void* const stream = cuda.getStream(device).native_handle();
  detail::cuda_context_guard const here(driver, context);
  driver.check(driver.launch(function, static_cast<unsigned>(what.blocks), 1, 1, kernel_threads, 1, 1, 0, stream,
                             values.data(), nullptr),
               std::string("run ") + what.entry);
}

}  // namespace redco::tensors
