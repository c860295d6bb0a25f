#pragma once

#include <redco/tensor/device.hpp>
#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/torch.hpp>

#include <redco/diag/error.hpp>

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

namespace redco {

/// A choice of the code that computes the operations of kernel/ and the updates of update/.
enum class kernel_set : unsigned char {
  /// Kernels written for the device of the tensors; ATen's operators if there is no such kernel.
  fastest,
  composed  ///< the reference: ATen's operators, on any device
};

constexpr std::string_view name_of(kernel_set set) { return set == kernel_set::fastest ? "fastest" : "composed"; }

/// Returns the kernel set named by `wanted`, the value of the environment variable REDCO_KERNELS.
/// Returns `fastest` if `wanted` is null or empty. Throws `error` with exit code 64 for any other
/// word.
inline kernel_set kernel_set_of(char const* wanted) {
  if (wanted == nullptr || *wanted == 0) return kernel_set::fastest;
  for (kernel_set const set : {kernel_set::fastest, kernel_set::composed})
    if (name_of(set) == wanted) return set;
  throw error(exit_code::usage, "REDCO_KERNELS is \"" + std::string(wanted) +
                                    "\" in the environment: give fastest or composed, or unset it");
}

namespace detail {

inline std::atomic<kernel_set>& kernel_set_cell() {
  static std::atomic<kernel_set> set = kernel_set_of(std::getenv("REDCO_KERNELS"));
  return set;
}

}  // namespace detail

/// Returns the kernel set that all operations of this process use. The first call reads
/// REDCO_KERNELS and throws `error` with exit code 64 if its value names no set.
inline kernel_set kernel_set_in_use() { return detail::kernel_set_cell().load(std::memory_order_relaxed); }

/// Returns true if redco's CPU kernels compute operations on `x`: the `fastest` set is in use and
/// `x` is in host memory.
inline bool takes_cpu_kernels(at::Tensor const& x) {
  return kernel_set_in_use() == kernel_set::fastest && in_host_memory(x);
}

/// Returns true if redco's compiled CUDA kernels compute operations on `x`. The `fastest` set must
/// be in use, and the kernel launcher must serve the device of `x`.
inline bool takes_cuda_kernels(at::Tensor const& x) {
  return kernel_set_in_use() == kernel_set::fastest && kernel_launcher::in_use().serves(x.device());
}

/// A scope that selects another kernel set for all threads. The destructor restores the previous
/// one.
class forced_kernel_set {
 public:
  explicit forced_kernel_set(kernel_set set) : before_(detail::kernel_set_cell().exchange(set)) {}
  ~forced_kernel_set() { detail::kernel_set_cell().store(before_); }
  forced_kernel_set(forced_kernel_set const&) = delete;
  forced_kernel_set& operator=(forced_kernel_set const&) = delete;

 private:
  kernel_set before_;
};

}  // namespace redco
