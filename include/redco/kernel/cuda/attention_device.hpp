#pragma once

#include <redco/tensor/compiled_kernels.hpp>
#include <redco/tensor/torch.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <tuple>

namespace redco::kernel::cuda {

/// Attention without bias, mask and dropout, as ATen's flash operators take it: q [B, T, H, D], k and v [B, S, Hkv, D] with a
/// contiguous last dimension, in bf16.
struct flash_operands {
  at::Tensor q, k, v;
  bool causal;  ///< query i sees keys 0 ... i
  double scale;
};

/// What attention of this folder asks of a CUDA device beside products and kernels that come as text. The tests put one of the
/// host in its place.
class attention_device {
 public:
  virtual ~attention_device() = default;

  /// Whether the flash operators run there: from compute capability 8.0 on.
  virtual bool has_flash(at::Device device) const {
    return device.is_cuda() && compiled_kernels::of_process().compute_major(device) >= 8;
  }

  /// {out [B, T, H, D], log-sum-exp [B, H, T] in f32}.
  virtual std::array<at::Tensor, 2> flash(flash_operands const& x) const {
    at::AutoDispatchBelowADInplaceOrView const no_autograd;
    auto const all = at::_flash_attention_forward(x.q, x.k, x.v, std::nullopt, std::nullopt, x.q.size(1), x.k.size(1),
                                                  0, x.causal, false, x.scale);
    return {std::get<0>(all), std::get<1>(all)};
  }

  /// The gradients of q, k and v. Without dropout the operator reads no random state: that forward gives is dropped.
  virtual std::array<at::Tensor, 3> flash_backward(flash_operands const& x, at::Tensor const& grad,
                                                   at::Tensor const& out, at::Tensor const& lse) const {
    at::AutoDispatchBelowADInplaceOrView const no_autograd;
    auto const state = at::empty({2}, x.q.options().dtype(at::kUInt64)), unused = at::empty({}, state.options());
    auto const [dq, dk, dv] = at::_flash_attention_backward(grad, x.q, x.k, x.v, out, lse, {}, {}, x.q.size(1),
                                                            x.k.size(1), 0, x.causal, state, unused, x.scale);
    return {dq, dk, dv};
  }

  /// What a block of scores in f32 may take; backward holds two, and in bf16 half as much again for each.
  virtual std::int64_t score_bytes() const { return std::int64_t{64} << 20; }

  /// One of this class, unless another is forced.
  static attention_device const& in_use() {
    static attention_device const own;
    attention_device const* const other = forced_cell().load(std::memory_order_relaxed);
    return other != nullptr ? *other : own;
  }

  /// Another one while it lives, for all threads.
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
