#pragma once

#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/cuda/attention_blocks.hpp>
#include <redco/kernel/detail/attention_function.hpp>
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

/// Returns true if ATen's flash operators support heads of `d` elements, with a backward on every
/// device. Between 192 and 225 elements some devices have no backward.
constexpr bool flash_takes_width(std::int64_t d) { return d > 0 && d % 8 == 0 && (d <= 192 || (d > 224 && d <= 256)); }

/// Returns x [B, rows, heads * D] as a view [B, rows, heads, D] for ATen's flash operators. First
/// copies `x` unless its rows begin at multiples of 16 bytes, because the operators read 16 bytes
/// at once.
inline at::Tensor flash_operand(at::Tensor const& x, std::int64_t heads) {
  constexpr std::int64_t bytes = 16;
  auto const size = static_cast<std::int64_t>(x.element_size());
  bool const fits = reinterpret_cast<std::uintptr_t>(x.const_data_ptr()) % bytes == 0 &&
                    x.stride(0) * size % bytes == 0 && x.stride(1) * size % bytes == 0 && x.stride(2) == 1;
  return (fits ? x : x.clone(at::MemoryFormat::Contiguous)).unflatten(2, {heads, x.size(2) / heads});
}

inline flash_operands flash_operands_of(detail::attention_tensors const& t, attention_options const& o) {
  bool const all_seen = o.query0 + 1 >= t.k.size(1);
  return {flash_operand(t.q, o.heads), flash_operand(t.k, o.kv_heads), flash_operand(t.v, o.kv_heads),
          o.causal && !all_seen, o.scale_of(t.q.size(2) / o.heads)};
}

/// Computes attention with ATen's flash operators, for tensors for which attention_way_of returns
/// `flash`.
inline detail::attention_result flash_forward(detail::attention_tensors const& t, attention_options const& o) {
  // Without this guard, the result would be a view, which autograd does not let change in place.
  at::AutoDispatchBelowADInplaceOrView const no_autograd;
  auto const [out, lse] = attention_device::in_use().flash(flash_operands_of(t, o));
  return {out.flatten(2).contiguous(), lse.contiguous()};
}

inline void flash_backward(detail::attention_tensors const& t, attention_options const& o,
                           detail::attention_gradient const& gradient, detail::attention_tensors const& into) {
  auto const heads = [&](at::Tensor const& x) { return flash_operand(x, o.heads); };
  auto const found = attention_device::in_use().flash_backward(flash_operands_of(t, o), heads(gradient.of_out),
                                                               heads(gradient.made.out), gradient.made.lse);
  into.q.copy_(found[0].flatten(2));
  into.k.copy_(found[1].flatten(2));
  into.v.copy_(found[2].flatten(2));
}

enum class attention_way : unsigned char {
  flash,  ///< implementation by ATen's flash operators, which store no scores
  blocks  ///< implementation by blocks of scores in memory, for all other cases
};

/// Returns the implementation of attention for these tensors. Flash operators need bf16 and no
/// bias, mask, documents, sinks, soft cap, dropout, pattern or window. With the causal rule, query
/// i must see all keys or exactly the keys 0 to i (query0 = 0, T = S). Flash operators must also
/// support the head size and the device.
inline attention_way attention_way_of(detail::attention_tensors const& t, attention_options const& o) {
  std::int64_t const queries = t.q.size(1), keys = t.k.size(1);
  bool const causal = o.causal && o.query0 + 1 < keys, windowed = o.window > 0 && o.query0 + queries > o.window;
  bool const takes = t.q.scalar_type() == at::kBFloat16 && t.q.numel() > 0 &&
                     flash_takes_width(t.q.size(2) / o.heads) && !t.bias.defined() && !t.mask.defined() &&
                     !o.documents.defined() && !o.pattern.is_sparse() && !t.sinks.defined() && o.dropout == 0 &&
                     o.soft_cap == 0 && !windowed && (!causal || (o.query0 == 0 && queries == keys));
  return takes && attention_device::in_use().has_flash(t.q.device()) ? attention_way::flash : attention_way::blocks;
}

/// The CUDA implementation of attention: functions forward and backward.
/// detail/attention_function.hpp makes a differentiable function of them.
struct attention_kernels {
  static detail::attention_result forward(detail::attention_tensors const& t, attention_options const& o) {
    if (attention_way_of(t, o) == attention_way::flash) return flash_forward(t, o);
    return attention_in_blocks(t, o, attention_device::in_use().score_bytes()).forward();
  }

  static detail::attention_extras backward(detail::attention_tensors const& t, attention_options const& o,
                                           detail::attention_gradient const& gradient,
                                           detail::attention_tensors const& into) {
    if (attention_way_of(t, o) == attention_way::blocks)
      return attention_in_blocks(t, o, attention_device::in_use().score_bytes()).backward(gradient, into);
    flash_backward(t, o, gradient, into);
    return {};
  }
};

}  // namespace redco::kernel::cuda
