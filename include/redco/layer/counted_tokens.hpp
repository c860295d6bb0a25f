#pragma once

namespace redco {

/// Which tokens the position of a token counts, those before it: all of them.
struct every_token {};

/// Those that the context's key mask shows (all without one). A hidden token is at position -1.
struct unmasked_tokens {};

/// Those with another id than `Padding`. Padding is at position -1, whose row gets no gradient.
template <auto Padding>
struct tokens_other_than {};

}  // namespace redco
