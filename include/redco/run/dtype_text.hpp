#pragma once

#include <redco/tensor/bf16_path.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/options/chosen_dtype.hpp>

#include <string>

namespace redco::run {

/// Returns a log line about the dtype of a run, such as "dtype bf16: ...", with the library that
/// multiplies bf16 matrices and the kernels in use.
inline std::string dtype_text(options::chosen_dtype const& chosen, at::Device device) {
  std::string text = "dtype " + std::string(name_of(chosen.compute)) + ": " + chosen.why;
  tensors::kernel_set const kernels = tensors::kernel_set_in_use();
  if (chosen.compute == dtype::bf16 && kernels == tensors::kernel_set::fastest && device == tensors::host_device())
    text += "; products by " + std::string(name_of(tensors::bf16_path_in_use()));
  text += "; kernels " + std::string(name_of(kernels));
  return text;
}

}  // namespace redco::run
