#pragma once

#include <redco/tensor/kernel_source.hpp>
#include <redco/tensor/torch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace redco {

/// Who runs kernels that come as text.
class kernel_launcher {
 public:
  struct argument {
    void const* value;
    std::size_t bytes;
  };

  /// One launch; `element` is at::kFloat or at::kBFloat16.
  struct call {
    kernel_source const& source;
    char const* entry;
    at::ScalarType element;
    at::Device device;
    std::int64_t blocks;
  };

  virtual ~kernel_launcher() = default;

  /// Whether tensors there can be given to kernels.
  virtual bool serves(at::Device device) const = 0;

  /// Starts an entry on the device's current stream.
  virtual void run(call const& what, std::span<argument const> arguments) = 0;

  /// compiled_kernels, unless another is forced.
  static kernel_launcher& in_use();

  /// Another one while it lives, for all threads.
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

/// Threads of each block of a kernel.
inline constexpr int kernel_threads = 256;

/// The blocks in which each thread gets one of n elements, as far as a grid should be that large.
inline std::int64_t blocks_for(std::int64_t n) {
  std::int64_t const blocks = (n + kernel_threads - 1) / kernel_threads;
  return blocks < 65536 ? blocks : 65536;
}

/// Runs an entry of a source on the device and with the elements of x, in `blocks` blocks; nothing for no block. Arguments are
/// values of the entry's own types: std::int64_t for i64, pointers to the device's memory, aggregates as they are.
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
