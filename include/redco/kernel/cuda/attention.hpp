#pragma once

#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/cuda/attention_blocks.hpp>
#include <redco/kernel/cuda/attention_device.hpp>
#include <redco/kernel/cuda/flash_attention.hpp>
#include <redco/kernel/detail/attention_function.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::kernel::cuda {

enum class attention_way : unsigned char {
  flash,  ///< implementation by ATen's flash operators, which store no scores
  blocks  ///< implementation by blocks of scores in memory, for all other cases
};

/// Returns the implementation of attention for these tensors. Flash operators need bf16 and no
/// bias, mask, dropout or window. With the causal rule, query i must see either all keys or exactly
/// the keys 0 to i (query0 = 0, T = S). Flash operators must also support the head size and the
/// device.
inline attention_way attention_way_of(detail::attention_tensors const& t, attention_options const& o) {
  std::int64_t const queries = t.q.size(1), keys = t.k.size(1);
  bool const causal = o.causal && o.query0 + 1 < keys, windowed = o.window > 0 && o.query0 + queries > o.window;
  bool const takes = t.q.scalar_type() == at::kBFloat16 && t.q.numel() > 0 &&
                     flash_takes_width(t.q.size(2) / o.heads) && !t.bias.defined() && !t.mask.defined() &&
                     o.dropout == 0 && !windowed && (!causal || (o.query0 == 0 && queries == keys));
  return takes && attention_device::in_use().has_flash(t.q.device()) ? attention_way::flash : attention_way::blocks;
}

/// The CUDA implementation of attention: functions forward and backward.
/// detail/attention_function.hpp makes a differentiable function of them.
struct attention_twin {
  static detail::attention_result forward(detail::attention_tensors const& t, attention_options const& o) {
    if (attention_way_of(t, o) == attention_way::flash) return flash_forward(t, o);
    return attention_in_blocks(t, o, attention_device::in_use().score_bytes()).forward();
  }

  static at::Tensor backward(detail::attention_tensors const& t, attention_options const& o,
                             detail::attention_gradient const& given, detail::attention_tensors const& into) {
    if (attention_way_of(t, o) == attention_way::blocks)
      return attention_in_blocks(t, o, attention_device::in_use().score_bytes()).backward(given, into);
    flash_backward(t, o, given, into);
    return {};
  }
};

}  // namespace redco::kernel::cuda
