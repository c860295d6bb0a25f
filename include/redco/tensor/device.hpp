#pragma once

#include <redco/tensor/device_graph.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redco::tensors {

/// A table of the CPU tensors from which a batch was copied to a device. With it, CPU code reads
/// labels or token ids without waiting for the device. Each thread has its own table.
class cpu_copies {
 public:
  static cpu_copies& of_thread() {
    thread_local cpu_copies all;
    return all;
  }

  /// Records that the device tensor `there` has the values of the CPU tensor `here`. The entry is
  /// valid until `there` is modified. Ignores pairs with different strides.
  void add(at::Tensor const& there, at::Tensor const& here) {
    if (there.strides() == here.strides()) all_.push_back({there, here, there._version()});
  }

  void clear() { all_.clear(); }

  /// Returns the values of the device tensor `x` from its recorded CPU copy; `x` may be a view.
  /// Returns nothing if `x` has no recorded copy or was modified since.
  std::optional<at::Tensor> find(at::Tensor const& x) const {
    for (auto const& [there, here, version] : all_)
      if (x.is_alias_of(there) && x.scalar_type() == there.scalar_type() && x._version() == version)
        return here.as_strided(x.sizes(), x.strides(),
                               x.storage_offset() - there.storage_offset() + here.storage_offset());
    return std::nullopt;
  }

 private:
  struct copy {
    at::Tensor there, here;
    std::int64_t version;
  };
  std::vector<copy> all_;
};

/// Returns the CPU device. CPU code accesses tensors on it through pointers, for files, for
/// messages between threads, and for tensors of the user.
inline at::Device cpu_device() { return at::kCPU; }

inline bool in_cpu_memory(at::Tensor const& x) { return x.device() == cpu_device(); }

/// Returns the values of `x` in contiguous CPU memory; copies only if `x` is on a device or not
/// contiguous. Waits for the device unless cpu_copies has a CPU copy of `x`. Throws `error` with
/// exit code 64 while a device graph is recorded; see look_on_cpu.
inline at::Tensor to_cpu(at::Tensor const& x) {
  graph_recording::refuse_cpu_read();
  if (in_cpu_memory(x)) return x.contiguous();
  auto const known = cpu_copies::of_thread().find(x);
  return (known ? *known : x.to(cpu_device())).contiguous();
}

/// A choice of the devices on which the ranks of this process compute.
struct device_choice {
  at::DeviceType type = at::kCPU;
  int count = 1;  ///< number of devices of the chosen type on this host
  /// True if all chosen devices multiply bf16 on tensor cores. Meaningful for CUDA devices only.
  bool multiplies_bf16 = true;
  /// Reason for the choice, for messages: "asked for", or a description of the devices found.
  std::string why = {};

  /// Returns the device of rank number `rank`. CUDA devices are assigned to the ranks round-robin.
  at::Device of_rank(int rank) const {
    return type == at::kCPU ? cpu_device() : at::Device(type, static_cast<at::DeviceIndex>(rank % count));
  }
};

/// Returns the choice of devices for `name`, a value of the option `--device`: "cpu", "cuda" or
/// "auto". "cuda" opens libtorch's CUDA library and disables TF32. "auto" uses the environment
/// variable REDCO_DEVICE if set, else CUDA if it is usable, else the CPU.
///
/// Throws `error` with exit code 64 for any other name. Throws it for "cuda" if CUDA is not usable;
/// the message says which package is missing.
device_choice choose_device(std::string_view name);

/// Returns the device of rank 0 for `name`, a value of the option `--device`. Throws the errors of
/// choose_device.
inline at::Device device_of(std::string_view name) { return choose_device(name).of_rank(0); }

/// Allows or forbids CUDA devices to round the factors of f32 products to TF32 (10 mantissa bits as
/// f16, range of f32). Applies to the whole process.
inline void multiply_in_tf32(bool allowed) {
  at::globalContext().setAllowTF32CuBLAS(allowed);
  at::globalContext().setAllowTF32CuDNN(allowed);
}

/// Returns f(y), where `y` has the values of `x` in CPU memory. While a device graph is recorded,
/// `f` is stored and called again for each later batch. In this case, `f` must not refer to objects
/// destroyed before the graph. A recorded loss must not use the result as its count; see
/// `count_on_cpu`.
template <class F>
auto look_on_cpu(at::Tensor const& x, F f) -> decltype(f(x)) {
  graph_recording::scope const free(nullptr);
  auto value = f(to_cpu(x));
  if (free.before != nullptr) {
    free.before->repeat([x, f] { f(to_cpu(x)); });
    free.before->hand_out();
  }
  return value;
}

/// Calls f(y), where `y` has the values of `x` in CPU memory; `f` throws if a value is wrong.
/// While a device graph is recorded, `f` is stored and called again for each later batch.
template <class F>
void check_on_cpu(at::Tensor const& x, F f) {
  graph_recording::scope const free(nullptr);
  f(to_cpu(x));
  if (free.before != nullptr) free.before->repeat([x, f] { f(to_cpu(x)); });
}

/// Returns f(y), where `y` has the values of `x` in CPU memory, as the count of a loss (number of
/// labels, tokens or pixels). While a device graph is recorded, the result is a placeholder, which
/// must be passed to `mean::count` unchanged. Each replay then weighs the loss by the count of its
/// own batch.
template <class F>
double count_on_cpu(at::Tensor const& x, F f) {
  graph_recording::scope const free(nullptr);
  double const value = f(to_cpu(x));
  if (free.before == nullptr) return value;
  return free.before->add_count(value, [x, f] { return f(to_cpu(x)); });
}

}  // namespace redco::tensors

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tensor/device.inl.hpp>
#endif
