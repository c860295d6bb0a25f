#pragma once

#include <redco/tensor/torch.hpp>

namespace redco {

/// A batch for language modelling, two int64 tensors [B, T]. labels[b][t] is the token that should
/// follow input_ids[b][t]; label -100 is not counted.
struct token_batch {
  at::Tensor input_ids;
  at::Tensor labels;
};

}  // namespace redco
