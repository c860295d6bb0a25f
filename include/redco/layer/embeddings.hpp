#pragma once

#include <redco/layer/extent_of.hpp>
#include <redco/layer/layer.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/recorder.hpp>
#include <redco/meta/fixed_string.hpp>

#include <cstdint>
#include <type_traits>

namespace redco::layers::detail {

template <class X>
struct ids_out {
  using type = shape::partial;
  static_assert(std::is_same_v<X, shape::replicated>,
                "redco[S008]: token ids are replicated; an embedding comes first");
};

}  // namespace redco::layers::detail

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

/// A layer that looks up rows of a [Types, Width] table by the context entry `token_type_ids` [B,
/// T]; all types are 0 without this entry. Returns a replicated [B, T, Width].
template <auto Types, auto Width>
struct token_types {
  using layer_concept = leaf_tag;
  static constexpr bool by_token = true;
  static constexpr bool unnamed = true;

  template <class X>
  using out = shape::replicated;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const width = w.size("features", extent_of<Width>(config)),
                       types = w.size("token types", extent_of<Types>(config));
    if (!w.expect_rank(2)) return;
    fact::parameter_fact weight;
    weight.shape = {types, width};
    weight.start = {fact::initial::kind::normal, 1.0};
    weight.why = fact::reason::token_type;
    w.parameter("weight", weight);
    extents const ids = w.activation.shape;
    w.save_batch("types", {ids[0], ids[1]}, fact::width_kind::index);
    w.produce({ids[0], ids[1], width});
    w.backward({});
    w.weight_gradient(weight.shape, -1, 0);
  }
};

/// A layer that returns features [B, Width] of times t, the context entry `timesteps` [B]. The
/// features are cosines, then sines, of t 10000^(-2 i / Width) for i = 0 ... Width / 2 - 1 (Vaswani
/// et al. 2017). The layer's input [B, ...] only gives the number of examples.
template <auto Width>
struct timestep_embedding {
  using layer_concept = leaf_tag;

  template <class X>
  using out = typename detail::takes<detail::needs::alike, X, shape::replicated>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const width = w.size("features", extent_of<Width>(config));
    w.multiple("features", width, "features of a frequency", 2);
    w.produce({w.activation.shape[0], width});
    w.end_gradient();
  }
};

/// A layer that returns the first token of each example: [B, T, Width] becomes [B, Width]. Copies
/// the token, so that the other tokens can be freed. Gathers the tokens first if they are split
/// over ranks.
struct first_token {
  using layer_concept = leaf_tag;

  template <class X>
  using out = typename detail::takes<detail::needs::features_alike, X, shape::replicated>::type;

  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    if (!w.expect_rank(3)) return;
    fact::detail::unshard_facts<X>(w);
    fact::flow const input = w.activation;
    w.produce({input.shape[0], input.shape[2]});
    w.backward(input);
  }
};

/// A layer that returns the mean of the tokens of each example: [B, T, Width] becomes [B, Width].
/// Gathers the tokens first if they are split over ranks.
struct mean_of_tokens : first_token {};

}  // namespace redco::layers

namespace redco {

/// A layer that looks up rows of a [Vocabulary, Width] table by int64 ids [B, T] and returns [B, T,
/// Width]. Each rank holds a part of the rows, so the result is a pending sum; the last part may be
/// padded. `Tied` is the full name of the table of another embedding to use; empty: the layer owns
/// its table "weight". The row of token id `Padding` gets no gradient.
template <auto Vocabulary, auto Width, meta::fixed_string Tied = "", auto Padding = -1>
struct embedding {
  using layer_concept = layers::leaf_tag;
  static constexpr bool by_token = true;
  static constexpr bool unnamed = Tied.view().empty();

  template <class X>
  using out = typename layers::detail::ids_out<X>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const rows = w.size("rows", layers::extent_of<Vocabulary>(config)),
                       width = w.size("features", layers::extent_of<Width>(config));
    if (!w.expect_rank(2)) return;
    fact::parameter_fact weight;
    weight.shape = {rows, width};
    weight.split(shape::axis::tp, 0, rows, shape::remainder::padded);
    weight.start = {fact::initial::kind::normal, 1.0};
    weight.why = fact::reason::vocabulary;
    if constexpr (Tied.view().empty()) w.parameter("weight", weight);
    else w.read_parameter(Tied.view());

    extents const ids = w.activation.shape;
    w.save_batch_or_local("local_ids", ids, fact::width_kind::index);
    w.produce({ids[0], ids[1], width});
    w.backward({});
    w.weight_gradient(weight.shape, 0, rows);
  }
};

/// A layer of learned absolute positions: returns rows of a table [Offset + Context, Width], one
/// for each token. Token t reads row Offset + t, or Offset + `token_positions` if the context has
/// this entry. `Counted` is a counting rule that can skip tokens such as padding. The result [B, T,
/// Width] is replicated; its B is 1 if all examples have equal positions.
template <auto Context, auto Width, auto Offset = 0, class Counted = layers::every_token>
struct positions {
  using layer_concept = layers::leaf_tag;
  static constexpr bool by_token =
      std::is_same_v<Counted, layers::every_token> || std::is_same_v<Counted, layers::unmasked_tokens>;
  static constexpr bool unnamed = true;

  template <class X>
  using out = shape::replicated;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const width = w.size("features", layers::extent_of<Width>(config)),
                       context = w.size("positions", layers::extent_of<Context>(config));
    // The input is ids or rows of features.
    if (w.activation.shape.rank != 3 && !w.expect_rank(2)) return;
    fact::parameter_fact weight;
    weight.shape = {context + layers::extent_of<Offset>(config), width};
    weight.start = {fact::initial::kind::normal, 1.0};
    weight.why = fact::reason::position;
    w.parameter("weight", weight);
    extents const ids = w.activation.shape;
    constexpr bool by_example = !std::is_same_v<Counted, layers::every_token>;
    if constexpr (by_example) w.save("rows", {ids[0], ids[1]}, -1, fact::width_kind::index);
    w.produce({ids[0], ids[1], width});
    if constexpr (by_example) {
      w.backward({});
      w.weight_gradient(weight.shape, -1, 0);
    }
  }
};

/// A layer that adds a learned token, its parameter "weight" [Width], before the tokens of each
/// example. [B, T, Width] becomes [B, T + 1, Width].
template <auto Width>
struct class_token {
  using layer_concept = layers::leaf_tag;
  static constexpr bool unnamed = true;

  template <class X>
  using out = typename layers::detail::takes<layers::detail::needs::alike, X, shape::replicated>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const width = w.size("features", layers::extent_of<Width>(config));
    if (!w.expect_rank(3)) return;
    w.expect_features(width);
    fact::parameter_fact token;
    token.shape = {width};
    token.start = {fact::initial::kind::normal, 1.0};
    token.why = fact::reason::class_token;
    w.parameter("weight", token);
    fact::flow const input = w.activation;
    w.produce({input.shape[0], input.shape[1] + 1, input.shape[2]});
    w.backward(input);
  }
};

}  // namespace redco
