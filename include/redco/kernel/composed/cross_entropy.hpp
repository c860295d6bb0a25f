#pragma once

#include <redco/kernel/composed/widened.hpp>
#include <redco/kernel/vocabulary_shard.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace redco::kernel::composed {

/// Returns the cross-entropy loss of each row [N] for the targets `t`, computed with ATen
/// operators; 0 for ignored labels. Needs memory for all logits of this shard. Communicates one
/// all_reduce(max) of [N] and one all_reduce(sum) of [2, N] elements.
inline at::Tensor row_losses(at::Tensor const& hidden, vocabulary_shard const& head, at::Tensor const& labels,
                             label_targets const& t, comm::group& ranks) {
  std::int64_t const valid = head.valid();
  at::Tensor logits = at::matmul(widened(hidden), widened(head.weight.narrow(0, 0, valid)).t());
  if (head.bias.defined()) logits = logits + widened(head.bias.narrow(0, 0, valid));
  logits = head.capped(logits);
  at::Tensor const lowest = at::full({logits.size(0), 1}, -std::numeric_limits<double>::infinity(), logits.options());
  at::Tensor const top = ranks.all_reduced(at::cat({logits.detach(), lowest}, 1).amax(1), comm::reduce_op::max);
  at::Tensor const below = logits - top.unsqueeze(1), zero = at::zeros({}, logits.options());
  at::Tensor const entries = at::arange(valid, labels.options()) + head.first;
  at::Tensor of_label = at::where(labels.unsqueeze(1).eq(entries), below, zero).sum(1), all;
  if (!t.plain()) {
    at::Tensor const own = t.weights.defined() ? t.own_of(labels) : at::full({}, t.kept, logits.options());
    at::Tensor const spread =
        t.weights.defined() ? below * t.weights.narrow(0, std::min(head.first, head.vocabulary), valid) : below;
    of_label = of_label * own + spread.sum(1) * t.spread;
    all = own + t.spread * t.total;
  }
  at::Tensor const sums =
      comm::reduce(tensor<shape::partial>(at::stack({below.exp().sum(1), of_label})), ranks).local();
  at::Tensor const lse = all.defined() ? sums[0].log() * all : sums[0].log();
  return at::where(labels.ne(t.ignored), lse - sums[1], zero);
}

/// Returns the sum of the rows' losses.
inline at::Tensor cross_entropy(at::Tensor const& hidden, vocabulary_shard const& head, at::Tensor const& labels,
                                label_targets const& t, comm::group& ranks) {
  return row_losses(hidden, head, labels, t, ranks).sum();
}

}  // namespace redco::kernel::composed
