#pragma once

#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/cuda/attention_device.hpp>
#include <redco/kernel/detail/attention_function.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::kernel::cuda {

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
                           detail::attention_gradient const& given, detail::attention_tensors const& into) {
  auto const heads = [&](at::Tensor const& x) { return flash_operand(x, o.heads); };
  auto const found = attention_device::in_use().flash_backward(flash_operands_of(t, o), heads(given.of_out),
                                                               heads(given.made.out), given.made.lse);
  into.q.copy_(found[0].flatten(2));
  into.k.copy_(found[1].flatten(2));
  into.v.copy_(found[2].flatten(2));
}

}  // namespace redco::kernel::cuda
