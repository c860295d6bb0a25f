#pragma once

#include <redco/tensor/torch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace redco::tensors {

/// CUDA C++ text of kernels, which is compiled without CUDA's headers when a kernel first runs.
/// kernel_prelude and `using element = float;` (or bf16) are inserted before the text. A kernel is
/// a function marked REDCO_ENTRY.
///
/// Kernels are correct for any number of blocks and of threads per block. Tests can therefore
/// compile and run them on the CPU.
struct kernel_source {
  char const* name;  ///< name of the source text, for the compiler's messages
  char const* text;
};

/// An interface that compiles and runs kernels given as CUDA C++ text.
class kernel_launcher {
 public:
  struct argument {
    void const* value;
    std::size_t bytes;
  };

  /// A description of one kernel launch: the source, the kernel's name `entry`, the element type
  /// (at::kFloat or at::kBFloat16), the device, and the number of blocks.
  struct call {
    kernel_source const& source;
    char const* entry;
    at::ScalarType element;
    at::Device device;
    std::int64_t blocks;
  };

  virtual ~kernel_launcher() = default;

  /// Returns true if this launcher can run kernels on tensors on `device`.
  virtual bool serves(at::Device device) const = 0;

  /// Launches the kernel that `launch` describes, on the current stream of its device. `arguments`
  /// are the values of the kernel's parameters, in order.
  virtual void run(call const& launch, std::span<argument const> arguments) = 0;

  /// Returns the kernel launcher that this process uses. It is compiled_kernels, unless a
  /// `kernel_launcher::forced` object selects another.
  static kernel_launcher& in_use();

  /// A scope that selects another kernel launcher for all threads, for tests. The destructor
  /// restores the previous one.
  class forced {
   public:
    explicit forced(kernel_launcher& launcher);
    ~forced();
    forced(forced const&) = delete;
    forced& operator=(forced const&) = delete;

   private:
    kernel_launcher* before_;
  };
};

/// Number of threads per block in all kernel launches.
inline constexpr int kernel_threads = 256;

/// Returns the number of blocks for a kernel over `n` elements: enough for one thread per element,
/// but at most 65536. With fewer threads than elements, each thread loops over several elements.
inline std::int64_t blocks_for(std::int64_t n) {
  std::int64_t const blocks = (n + kernel_threads - 1) / kernel_threads;
  return blocks < 65536 ? blocks : 65536;
}

/// Launches the function `entry` of `source` with `blocks` blocks on the device of `x`. Does
/// nothing if `blocks` is 0. The source is compiled for the dtype of `x`. Requires that each
/// argument has the type of the kernel's parameter: std::int64_t for i64, a device pointer, or a
/// plain struct.
template <class... Args>
void launch_kernel(kernel_source const& source, char const* entry, at::Tensor const& x, std::int64_t blocks,
                   Args const&... args) {
  if (blocks == 0) return;
  std::array<kernel_launcher::argument, sizeof...(Args)> const all{{{&args, sizeof args}...}};
  kernel_launcher::in_use().run({source, entry, x.scalar_type(), x.device(), blocks}, all);
}

/// Returns a pointer through which a kernel reads a contiguous tensor; null if the tensor is
/// undefined.
inline void const* read_by_kernel(at::Tensor const& x) { return x.defined() ? x.const_data_ptr() : nullptr; }

/// Returns a pointer through which a kernel writes a contiguous tensor; null if the tensor is
/// undefined.
inline void* written_by_kernel(at::Tensor const& x) { return x.defined() ? x.mutable_data_ptr() : nullptr; }

}  // namespace redco::tensors

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tensor/kernel_launcher.inl.hpp>
#endif
