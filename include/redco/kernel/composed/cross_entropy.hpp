#pragma once

#include <redco/kernel/vocabulary_shard.hpp>

#include <redco/comm/collectives.hpp>
#include <redco/comm/group.hpp>

#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <limits>

namespace redco::kernel::detail {

struct head_gradients {
  at::Tensor hidden, weight, bias;
};

/// Gradients of the summed loss times `grad`, from operators that can be differentiated again: for create_graph. Holds
/// all logits. `hidden` and `grad` are replicated values; what flows back to them from here is a pending sum, so `grad`
/// enters; the gradient of hidden is this shard's part of a pending sum.
inline head_gradients cross_entropy_composed(at::Tensor const& hidden, vocabulary_shard const& head,
                                             at::Tensor const& labels, std::int64_t ignored, group& ranks,
                                             at::Tensor const& grad) {
  auto const type = hidden.scalar_type(), sum = type == at::kDouble ? at::kDouble : at::kFloat;
  auto const valid = head.valid(), padding = head.weight.size(0) - valid;
  auto const h = hidden.to(sum), weight = head.weight.narrow(0, 0, valid).to(sum);
  auto logits = at::matmul(h, weight.t());
  if (head.bias.defined()) logits = logits + head.bias.narrow(0, 0, valid).to(sum);
  auto const lowest = at::full({h.size(0), 1}, -std::numeric_limits<double>::infinity(), h.options());
  auto const top = at::cat({logits.detach(), lowest}, 1).amax(1, true);
  auto const e = (logits - ranks.all_reduced(top, reduce_op::max)).exp();
  auto const total = enter(reduce(tensor<partial>(e.sum(1, true)), ranks), ranks).local();
  auto const column = at::arange(valid, labels.options()) + head.first;
  auto const at_label = labels.unsqueeze(1).eq(column).to(sum);
  auto const counted = labels.ne(ignored).unsqueeze(1);
  auto const entered_grad = enter(tensor<replicated>(grad.to(sum)), ranks).local();
  auto const d = at::where(counted, e / total - at_label, at::zeros({}, h.options())) * entered_grad;
  head_gradients out{at::matmul(d, weight).to(type),
                     at::constant_pad_nd(at::matmul(d.t(), h), {0, 0, 0, padding}).to(head.weight.scalar_type()),
                     {}};
  if (head.bias.defined()) out.bias = at::constant_pad_nd(d.sum(0), {0, padding}).to(head.bias.scalar_type());
  return out;
}

}  // namespace redco::kernel::detail
