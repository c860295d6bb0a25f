#pragma once

#include <redco/comm/group.hpp>

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::kernel {

/// For each row of logits [N, columns], whose columns are spread over the ranks, the vocabulary entry with the largest
/// one, [N] int64, equal on all ranks; of equal ones the first. `first` is the entry of column 0; columns from
/// `vocabulary` on are padding. Two reductions of [N].
at::Tensor sharded_argmax(at::Tensor const& logits, std::int64_t vocabulary, std::int64_t first, group& ranks);

}  // namespace redco::kernel

#ifndef REDCO_COMPILED
#include <redco/nn/impl/sharded_argmax_kernel.hpp>
#endif
