#pragma once

#include <redco/tensor/torch.hpp>

namespace redco {

/// A training batch for language models: two int64 tensors [B, T]. labels[b][t] is the token that
/// should follow input_ids[b][t]; the loss ignores label -100.
struct token_batch {
  at::Tensor input_ids;
  at::Tensor labels;
};

}  // namespace redco
