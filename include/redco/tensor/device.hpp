#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/diag/error.hpp>

#include <string>
#include <string_view>

namespace redco {

/// Where host code reads and writes tensors through pointers: files, messages between threads, what a user gives.
inline at::Device host_device() { return at::kCPU; }

inline bool in_host_memory(at::Tensor const& x) { return x.device() == host_device(); }

/// The device that `--device` names, where parameters lie and a network computes. Errors: exit code 64 for any but "cpu".
inline at::Device device_of(std::string_view name) {
  if (name == "cpu") return host_device();
  throw error(exit_code::usage, "--device " + std::string(name) +
                                    " cannot be computed on: this version computes on CPUs only; leave the option out, "
                                    "or give cpu");
}

}  // namespace redco
