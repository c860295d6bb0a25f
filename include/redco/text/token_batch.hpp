#pragma once

#include <redco/tensor/torch.hpp>

namespace redco {

/// A batch for language modelling: int64 [B, T] each; labels[b][t] is what should follow input_ids[b][t], -100 where
/// nothing counts.
struct token_batch {
  at::Tensor input_ids;
  at::Tensor labels;
};

}  // namespace redco
