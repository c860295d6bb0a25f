#pragma once

namespace redco {

/// A rule for learned positions: a token's position counts all earlier tokens.
struct every_token {};

/// A rule for learned positions: a token's position counts the earlier tokens that the context's
/// key mask shows, or all without a mask. A hidden token has position -1.
struct unmasked_tokens {};

/// A rule for learned positions: a token's position counts the earlier tokens whose id is not
/// `Padding`. Padding has position -1, whose table row gets no gradient.
template <auto Padding>
struct tokens_other_than {};

}  // namespace redco
