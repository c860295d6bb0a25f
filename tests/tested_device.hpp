#pragma once

#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdlib>

/// Where tests of kernels and of parity compute: REDCO_TEST_DEVICE of the environment, as --device takes it; else the CPU.
inline at::Device tested_device() {
  char const* const name = std::getenv("REDCO_TEST_DEVICE");
  return redco::device_of(name != nullptr ? name : "cpu");
}
