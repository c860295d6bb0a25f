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

/// Which code computes the operations of kernel/ and the updates of update/.
enum class kernel_set : unsigned char {
  fastest,  ///< code written for the device that the tensors are on, where there is such code
  composed  ///< the reference: ATen's operators, on any device
};

constexpr std::string_view name_of(kernel_set set) { return set == kernel_set::fastest ? "fastest" : "composed"; }

/// The set of a value of the environment's REDCO_KERNELS, the fastest where it is null or empty.
/// Errors: exit code 64 for any other word than a set's name.
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

/// The set that all operations of this process take. Errors: as kernel_set_of, in the first call.
inline kernel_set kernel_set_in_use() { return detail::kernel_set_cell().load(std::memory_order_relaxed); }

/// Whether code written for CPUs computes what x is part of.
inline bool takes_cpu_kernels(at::Tensor const& x) {
  return kernel_set_in_use() == kernel_set::fastest && in_host_memory(x);
}

/// Whether kernels that are compiled for a CUDA device compute what x is part of.
inline bool takes_cuda_kernels(at::Tensor const& x) {
  return kernel_set_in_use() == kernel_set::fastest && kernel_launcher::in_use().serves(x.device());
}

/// Another set while it lives, for all threads.
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
