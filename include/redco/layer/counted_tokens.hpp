#pragma once

namespace redco::layers {

/// A counting rule for learned positions: the position of a token is the number of all earlier
/// tokens.
struct every_token {};

/// A counting rule for learned positions: the position of a token is the number of earlier tokens
/// that are not masked by the context's key mask. Masked tokens have position -1. Without a mask,
/// all tokens count.
struct unmasked_tokens {};

/// A counting rule for learned positions: the position of a token is the number of earlier tokens
/// whose id is not `Padding`. Padding tokens have position -1; their row of the position table gets
/// no gradient.
template <auto Padding>
struct tokens_other_than {};

}  // namespace redco::layers
