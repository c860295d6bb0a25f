#pragma once

#include <redco/tensor/device.hpp>
#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/process_choice.hpp>
#include <redco/tensor/torch.hpp>

#include <redco/meta/enum_texts.hpp>

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace redco::tensors {

/// A choice of the code that computes tensor operations (folder kernel/) and optimizer updates
/// (folder update/).
enum class kernel_set : unsigned char {
  /// redco's kernels for the device of the tensors; ATen's operators if redco has no such kernel.
  fastest,
  composed  ///< ATen's operators on any device, as the reference
};

inline constexpr auto kernel_set_texts = meta::enum_texts<kernel_set>({
    {kernel_set::fastest, "fastest"},
    {kernel_set::composed, "composed"},
});

constexpr std::string_view name_of(kernel_set set) { return kernel_set_texts.text_of(set); }

/// Returns the kernel set that `wanted` names. `wanted` is the value of the environment variable
/// REDCO_KERNELS; if it is null or empty, returns `fastest`. Throws `error` with exit code 64 for
/// any other text.
inline kernel_set kernel_set_of(char const* wanted) {
  return named_choice("REDCO_KERNELS", wanted, kernel_set::fastest, kernel_set_texts, "fastest or composed");
}

}  // namespace redco::tensors

namespace redco::tensors::detail {

inline std::atomic<kernel_set>& kernel_set_cell() {
  static std::atomic<kernel_set> set = kernel_set_of(std::getenv("REDCO_KERNELS"));
  return set;
}

}  // namespace redco::tensors::detail

namespace redco::tensors {

/// Returns the kernel set that all operations of this process use. The first call reads the
/// environment variable REDCO_KERNELS. Throws `error` with exit code 64 if its value is invalid.
inline kernel_set kernel_set_in_use() { return detail::kernel_set_cell().load(std::memory_order_relaxed); }

/// Returns true if redco's CPU kernels compute operations on `x`. This is the case if the kernel
/// set `fastest` is in use and `x` is in CPU memory.
inline bool takes_cpu_kernels(at::Tensor const& x) {
  return kernel_set_in_use() == kernel_set::fastest && in_cpu_memory(x);
}

/// Returns true if redco's CUDA kernels compute operations on `x`. This is the case if the kernel
/// set `fastest` is in use and the kernel launcher supports the device of `x`.
inline bool takes_cuda_kernels(at::Tensor const& x) {
  return kernel_set_in_use() == kernel_set::fastest && kernel_launcher::in_use().serves(x.device());
}

/// A scope that selects another kernel set for all threads, for tests. The destructor restores the
/// previous one.
class forced_kernel_set : forced<kernel_set> {
 public:
  explicit forced_kernel_set(kernel_set set) : forced(detail::kernel_set_cell(), set) {}
};

}  // namespace redco::tensors
