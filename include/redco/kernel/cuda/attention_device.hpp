#pragma once

#include <redco/tensor/compiled_kernels.hpp>
#include <redco/tensor/torch.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <tuple>

namespace redco::kernel::cuda {

/// Operands of ATen's flash attention: q [B, T, H, D], k and v [B, S, Hkv, D] in bf16, with a
/// contiguous last dimension. There is no bias, mask or dropout.
struct flash_operands {
  at::Tensor q, k, v;
  bool causal;  ///< causal rule: if true, query i sees only the keys 0 to i
  double scale;
};

/// An interface to the device operations that attention needs besides matrix products and compiled
/// kernels. Tests replace it by an implementation on the CPU.
class attention_device {
 public:
  virtual ~attention_device() = default;

  /// Returns true if `device` supports ATen's flash operators: compute capability 8.0 or higher.
  virtual bool has_flash(at::Device device) const {
    return device.is_cuda() && tensors::compiled_kernels::of_process().compute_major(device) >= 8;
  }

  /// Computes flash attention. Returns the output [B, T, H, D] and the log-sum-exp [B, H, T] in
  /// f32.
  virtual std::array<at::Tensor, 2> flash(flash_operands const& x) const {
    at::AutoDispatchBelowADInplaceOrView const no_autograd;
    auto const all = at::_flash_attention_forward(x.q, x.k, x.v, std::nullopt, std::nullopt, x.q.size(1), x.k.size(1),
                                                  0, x.causal, false, x.scale);
    return {std::get<0>(all), std::get<1>(all)};
  }

  /// Returns the gradients of q, k and v by ATen's flash attention. Without dropout the operator
  /// reads no random state, so the random state from the forward call is not needed.
  virtual std::array<at::Tensor, 3> flash_backward(flash_operands const& x, at::Tensor const& grad,
                                                   at::Tensor const& out, at::Tensor const& lse) const {
    at::AutoDispatchBelowADInplaceOrView const no_autograd;
    auto const state = at::empty({2}, x.q.options().dtype(at::kUInt64)), unused = at::empty({}, state.options());
    auto const [dq, dk, dv] = at::_flash_attention_backward(grad, x.q, x.k, x.v, out, lse, {}, {}, x.q.size(1),
                                                            x.k.size(1), 0, x.causal, state, unused, x.scale);
    return {dq, dk, dv};
  }

  /// Returns the largest size in bytes of a block of f32 attention scores. Backward holds two such
  /// blocks, and for bf16 also two copies of half the size.
  virtual std::int64_t score_bytes() const { return std::int64_t{64} << 20; }

  /// Returns the attention_device that this process uses: a plain attention_device, unless an
  /// `attention_device::forced` object selects another.
  static attention_device const& in_use() {
    static attention_device const own;
    attention_device const* const other = forced_cell().load(std::memory_order_relaxed);
    return other != nullptr ? *other : own;
  }

  /// A scope that selects another attention_device for all threads, for tests. The destructor
  /// restores the previous one.
  class forced {
   public:
    explicit forced(attention_device const& device) : before_(forced_cell().exchange(&device)) {}
    ~forced() { forced_cell().store(before_); }
    forced(forced const&) = delete;
    forced& operator=(forced const&) = delete;

   private:
    attention_device const* before_;
  };

 private:
  static std::atomic<attention_device const*>& forced_cell() {
    static std::atomic<attention_device const*> device = nullptr;
    return device;
  }
};

}  // namespace redco::kernel::cuda
