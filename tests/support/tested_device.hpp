#pragma once

#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>

#include <redco/diag/error.hpp>

#include <cstdlib>

/// Returns the device of tests of kernels and of parity: REDCO_TEST_DEVICE, as --device takes it,
/// else the CPU.
inline at::Device tested_device() {
  char const* const name = std::getenv("REDCO_TEST_DEVICE");
  return redco::tensors::device_of(name != nullptr ? name : "cpu");
}

/// Opens the tested device before the program begins. libtorch caches its answer whether CUDA is
/// available, and a world of ranks or a backward pass on the CPU asks for it. If opening fails,
/// tested_device throws the error again.
inline bool const tested_device_opens = [] {
  try {
    tested_device();
    return true;
  } catch (redco::error const&) {
    return false;
  }
}();
