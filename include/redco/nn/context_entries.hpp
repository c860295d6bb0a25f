#pragma once

#include <redco/tensor/tensor.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shape/layout.hpp>
#include <redco/diag/error.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace redco::nn {

/// A type of context entry: an aggregate with a member `value`, such as
/// `struct key_mask { at::Tensor value; };`. Users may define their own.
template <class E>
concept context_entry = std::is_aggregate_v<E> && requires(E const& entry) {
  entry.value;
};

}  // namespace redco::nn

namespace redco::nn::detail {

/// Returns the index of type `Entry` in the type list `Entries`, or the length of the list if it
/// does not contain `Entry`.
template <class Entry, class... Entries>
constexpr std::size_t entry_index() {
  std::size_t at = 0;
  static_cast<void>(((std::is_same_v<Entries, Entry> ? false : (++at, true)) && ...));
  return at;
}

/// Returns a copy of a tuple of context entries without the entry of type `Entry`.
template <class Entry, class... Entries>
auto entries_without(std::tuple<Entries...> const& entries) {
  [[maybe_unused]] auto const unless_same = []<class Other>(Other const& other) {
    if constexpr (std::is_same_v<Other, Entry>) return std::tuple<>();
    else return std::tuple<Other>(other);
  };
  return std::apply([&](Entries const&... one) { return std::tuple_cat(unless_same(one)...); }, entries);
}

/// Returns a copy of a tuple of context entries with `entry` added, in place of an entry of the
/// same type if there is one.
template <class Entry, class... Entries>
auto entries_with(std::tuple<Entries...> const& entries, Entry entry) {
  return std::tuple_cat(entries_without<Entry>(entries), std::tuple<Entry>(std::move(entry)));
}

}  // namespace redco::nn::detail

namespace redco {

/// A context entry with the encoder's input of an encoder-decoder model: token ids [B, S].
struct encoder_input {
  at::Tensor value;
};

/// A context entry with the mask of visible keys, bool [B, S]: true for a real position, false for
/// padding.
struct key_mask {
  at::Tensor value;
};

/// A context entry with the mask of the encoder's positions, bool [B, S]: true for a real position,
/// false for padding. The encoder's own attention and the decoder's cross-attention read it.
struct encoder_mask {
  at::Tensor value;
};

}  // namespace redco

namespace redco::nn {

/// A context entry with the encoder's output. The decoder's cross-attention reads [B, S, width];
/// layers that depend on a condition, such as `adaptive_layer_norm`, read [B, width].
struct encoder_states {
  tensor<shape::replicated> value;
};

/// A context entry with the time t of each example, [B], which a `timestep_embedding` layer reads.
struct timesteps {
  at::Tensor value;
};

/// A context entry with the token type (segment) of each token, int64 [B, T]: 0 for the first
/// sentence, 1 for the second. Types are 0 if the entry is not set.
struct token_type_ids {
  at::Tensor value;
};

/// A context entry with the bias that a `with_distance_bias` layer adds to attention scores: [heads
/// of this rank, 2 T - 1]. The second index is key position minus query position, plus T - 1.
struct distance_bias {
  at::Tensor value;
};

/// A context entry with the position of each token, int64 [B, T]. Set the entry if positions differ
/// from the token's index in its row, as in left-padded sequences.
struct token_positions {
  at::Tensor value;
};

/// A context entry for rows that hold several documents, or padding. `value` is the position of
/// each token in its document, int64 [B, T]: 0 at the start of a document, -1 for padding. Causal
/// attention stays within documents, and learned and rotary positions restart. Padding has no part
/// in lengths of texts, in losses that balance experts, and in counts of their tokens. If `value`
/// is undefined, each row is one document.
struct documents {
  at::Tensor value;
  /// Mask of the tokens that are no padding, bool [B, T]. The network sets it from `value`.
  at::Tensor real = {};
};

}  // namespace redco::nn

namespace redco::nn::detail {

/// Returns the positions of the tokens, int64 [B, T], that the entry `token_positions` or else
/// `documents` of a context sets. Returns an undefined tensor if there are none.
template <class Context>
at::Tensor set_positions(Context const& ctx) {
  if constexpr (Context::template has<token_positions>) return ctx.template get<token_positions>();
  else if constexpr (Context::template has<documents>) return ctx.template get<documents>();
  else return {};
}

/// Returns the entry `documents` of a context; undefined if it is not set. If it is set, throws
/// `error` with exit code 64 unless `keeps`, which is true if the layer keeps documents apart.
template <class Context>
at::Tensor documents_of(Context const& ctx, bool keeps) {
  if constexpr (!Context::template has<documents>) {
    return {};
  } else {
    at::Tensor const value = ctx.template get<documents>();
    if (value.defined() && !keeps)
      throw error(
          exit_code::usage,
          "rows of several documents need causal self-attention without a cache, and this model mixes tokens in "
          "another layer: call the network without nn::documents, with one document per row");
    return value;
  }
}

}  // namespace redco::nn::detail
