#pragma once

#include <redco/tensor/kernel_source.hpp>
#include <redco/tensor/torch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace redco {

/// An interface that runs kernels given as CUDA C++ text.
class kernel_launcher {
 public:
  struct argument {
    void const* value;
    std::size_t bytes;
  };

  /// A description of one kernel launch. `element` is at::kFloat or at::kBFloat16.
  struct call {
    kernel_source const& source;
    char const* entry;
    at::ScalarType element;
    at::Device device;
    std::int64_t blocks;
  };

  virtual ~kernel_launcher() = default;

  /// Returns true if kernels can read and write tensors on `device`.
  virtual bool serves(at::Device device) const = 0;

  /// Launches a kernel on the device's current stream. `what` names its entry function.
  virtual void run(call const& what, std::span<argument const> arguments) = 0;

  /// Returns the launcher that the process uses: compiled_kernels, unless a `forced` object selects
  /// another.
  static kernel_launcher& in_use();

  /// A scope that selects another kernel launcher for all threads. The destructor restores the
  /// previous one.
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

/// Number of threads in each block of a kernel.
inline constexpr int kernel_threads = 256;

/// Returns the number of blocks with one thread per element of n, at most 65536. In a smaller grid,
/// each thread loops over several elements.
inline std::int64_t blocks_for(std::int64_t n) {
  std::int64_t const blocks = (n + kernel_threads - 1) / kernel_threads;
  return blocks < 65536 ? blocks : 65536;
}

/// Launches the function `entry` of `source` with `blocks` blocks on the device of `x`; does
/// nothing for zero blocks. The dtype of `x` is the source's element type. Each argument has the
/// type of the kernel's parameter: std::int64_t for i64, device pointers, or plain structs.
template <class... Args>
void launch_kernel(kernel_source const& source, char const* entry, at::Tensor const& x, std::int64_t blocks,
                   Args const&... args) {
  if (blocks == 0) return;
  std::array<kernel_launcher::argument, sizeof...(Args)> const all{{{&args, sizeof args}...}};
  kernel_launcher::in_use().run({source, entry, x.scalar_type(), x.device(), blocks}, all);
}

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tensor/kernel_launcher.inl.hpp>
#endif
