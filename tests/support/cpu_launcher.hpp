#pragma once

// Runs kernels of a device on the CPU: each thread of a block is a thread of this process, and one
// block runs at a time. device_text.cmake makes device_text/ from the strings in include/.

#include <redco/tensor/device.hpp>
#include <redco/tensor/kernel_launcher.hpp>
#include <redco/tensor/torch.hpp>
#include <device_text/all_includes.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace device_text {

struct three {
  unsigned x = 0;
};
inline thread_local three threadIdx, blockIdx, blockDim, gridDim;

/// A barrier for the threads of a block.
class meeting {
 public:
  explicit meeting(unsigned threads) : threads_(threads) {}

  void wait() {
    std::unique_lock lock(mutex_);
    if (++here_ == threads_) {
      here_ = 0;
      ++round_;
      all_.notify_all();
    } else {
      all_.wait(lock, [&, mine = round_] { return round_ != mine; });
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  unsigned threads_, here_ = 0;
  unsigned long round_ = 0;
};
inline thread_local meeting* block = nullptr;

inline void wait_for_block() {
  if (block != nullptr) block->wait();
}

#define __device__
#define __shared__ static
#define __syncthreads() wait_for_block()
#define __uint_as_float(x) std::bit_cast<float>(static_cast<std::uint32_t>(x))
#define __float_as_uint(x) std::bit_cast<std::uint32_t>(x)
#define REDCO_ENTRY inline
#include <device_text/kernel_prelude.hpp>
namespace of_f32 {
using element = float;
#include <device_text/all_elements.hpp>
}  // namespace of_f32
namespace of_bf16 {
using element = bf16;
#include <device_text/all_elements.hpp>
}  // namespace of_bf16
#undef __device__
#undef __shared__
#undef __syncthreads
#undef __uint_as_float
#undef __float_as_uint
#undef REDCO_ENTRY

using arguments = std::span<redco::tensors::kernel_launcher::argument const>;
using entry = void (*)(arguments);

template <class T>
T value_of(redco::tensors::kernel_launcher::argument const& a) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, a.value, sizeof value);
  return value;
}

template <class... P>
bool fits(void (*)(P...), arguments values) {
  std::vector<std::size_t> const wanted{sizeof(P)...};
  return std::ranges::equal(values, wanted, {}, &redco::tensors::kernel_launcher::argument::bytes);
}

template <class... P, std::size_t... I>
void call_with(void (*f)(P...), arguments values, std::index_sequence<I...>) {
  f(value_of<P>(values[I])...);
}

template <auto F>
struct typed;
template <class... P, void (*F)(P...)>
struct typed<F> {
  static bool takes(arguments values) { return fits(F, values); }
  static void call(arguments values) { call_with(F, values, std::index_sequence_for<P...>()); }
};

struct cpu_entry {
  bool (*takes)(arguments);
  entry of_f32, of_bf16;
};

inline std::map<std::string_view, cpu_entry> const& entries() {
  static std::map<std::string_view, cpu_entry> const all{
#define REDCO_CPU_ENTRY(name) \
  {#name, {typed<&of_f32::name>::takes, typed<&of_f32::name>::call, typed<&of_bf16::name>::call}},
#include <device_text/all_entries.hpp>
#undef REDCO_CPU_ENTRY
  };
  return all;
}

}  // namespace device_text

/// A launcher that runs kernels of device text on tensors in CPU memory, in at most `blocks`
/// blocks of `threads` threads.
class cpu_launcher final : public redco::tensors::kernel_launcher {
 public:
  explicit cpu_launcher(unsigned threads, std::int64_t blocks = 1 << 16) : threads_(threads), blocks_(blocks) {}

  bool serves(at::Device device) const override { return device == redco::tensors::cpu_device(); }

  void run(call const& launch, std::span<argument const> values) override {
    auto const& entry = device_text::entries().at(launch.entry);
    // Catch2's assertions work in one thread only, and several ranks may launch concurrently.
    if (!entry.takes(values)) throw std::logic_error("the arguments of " + std::string(launch.entry) + " do not fit");
    auto const f = launch.element == at::kBFloat16 ? entry.of_bf16 : entry.of_f32;
    auto const blocks = static_cast<unsigned>(std::min(launch.blocks, blocks_));
    std::lock_guard const one_block_at_a_time(mutex_);
    ++runs_[launch.entry];
    device_text::meeting meeting(threads_);
    auto const thread = [&](unsigned index) {
      device_text::threadIdx.x = index, device_text::blockDim.x = threads_, device_text::gridDim.x = blocks;
      device_text::block = &meeting;
      for (unsigned b = 0; b < blocks; ++b) {
        device_text::blockIdx.x = b;
        f(values);
        meeting.wait();
      }
      device_text::block = nullptr;
    };
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads_; ++i) others.emplace_back(thread, i);
    thread(0);
    for (std::thread& one : others) one.join();
  }

  /// Returns the number of runs of each entry.
  std::map<std::string_view, int> const& runs() const { return runs_; }

 private:
  unsigned threads_;
  std::int64_t blocks_;
  std::mutex mutex_;
  std::map<std::string_view, int> runs_;
};
