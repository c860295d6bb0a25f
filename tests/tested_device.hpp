#pragma once

#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>

#include <redco/diag/error.hpp>

#include <cstdlib>

/// Where tests of kernels and of parity compute: REDCO_TEST_DEVICE of the environment, as --device takes it; else the CPU.
inline at::Device tested_device() {
  char const* const name = std::getenv("REDCO_TEST_DEVICE");
  return redco::device_of(name != nullptr ? name : "cpu");
}

/// It is opened before the program begins: libtorch answers whether there is CUDA once for all, and a world of ranks or a backward
/// pass on the CPU asks. What refuses it is thrown again by whoever calls tested_device.
inline bool const tested_device_opens = [] {
  try {
    tested_device();
    return true;
  } catch (redco::error const&) {
    return false;
  }
}();
