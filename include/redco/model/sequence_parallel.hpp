#pragma once

#include <redco/layer/encoder_decoder.hpp>
#include <redco/layer/initialised.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/split_tokens.hpp>
#include <redco/layer/with_distance_bias.hpp>

#include <redco/model/model.hpp>

#include <redco/shape/extents.hpp>

#include <type_traits>

namespace redco {

namespace detail {

template <class L>
inline constexpr bool is_repeat = false;
template <auto Times, class Block>
inline constexpr bool is_repeat<repeat<Times, Block>> = true;
template <fixed_string Name, class L>
inline constexpr bool is_repeat<named<Name, L>> = is_repeat<L>;
template <attention_kind Kind, auto Heads, auto Buckets, auto Farthest, class L>
inline constexpr bool is_repeat<with_distance_bias<Kind, Heads, Buckets, Farthest, L>> = is_repeat<L>;

/// `L` with its tokens split where blocks begin to repeat, on both sides of an encoder-decoder; void where none does.
template <class L>
struct split_within {
  using type = void;
};
template <class L>
using split_within_t = typename split_within<L>::type;

template <class...>
struct passed;

/// The same of a sequence that consists of layers already passed and layers to come.
template <class Passed, class... Next>
struct split_of_sequence {
  using type = void;
};
template <class... Passed, class Next, class... Later>
struct split_of_sequence<passed<Passed...>, Next, Later...> {
  static constexpr auto choose() {
    if constexpr (is_repeat<Next>) {
      return std::type_identity<sequential<Passed..., split_tokens, Next, Later...>>();
    } else if constexpr (!std::is_void_v<split_within_t<Next>>) {
      return std::type_identity<sequential<Passed..., split_within_t<Next>, Later...>>();
    } else {
      return split_of_sequence<passed<Passed..., Next>, Later...>();
    }
  }
  using type = typename decltype(choose())::type;
};
template <class... L>
struct split_within<sequential<L...>> : split_of_sequence<passed<>, L...> {};

template <fixed_string Name, class L>
  requires(!std::is_void_v<split_within_t<L>>)
struct split_within<named<Name, L>> {
  using type = named<Name, split_within_t<L>>;
};
template <auto Deviation, class L>
  requires(!std::is_void_v<split_within_t<L>>)
struct split_within<initialised<Deviation, L>> {
  using type = initialised<Deviation, split_within_t<L>>;
};
template <class Encoder, class Decoder>
  requires(!std::is_void_v<split_within_t<Encoder>> && !std::is_void_v<split_within_t<Decoder>>)
struct split_within<encoder_decoder<Encoder, Decoder>> {
  using type = encoder_decoder<split_within_t<Encoder>, split_within_t<Decoder>>;
};

}  // namespace detail

/// Satisfied by models in whose net blocks are repeated, so that `sequence_parallel` has a place to split the tokens. What
/// follows the blocks must take split tokens, as norms, heads and all families here do.
template <class M>
concept repeats_blocks = model<M> && !std::is_void_v<detail::split_within_t<typename M::net>>;

/// `M` with its tokens split between blocks (see `split_tokens`): the same sizes, parameters, names and losses.
///   constexpr redco::sequence_parallel<redco::gpt2> model{{.width = 384, .heads = 6, .layers = 6}};
template <model M>
struct sequence_parallel {
  using net = std::conditional_t<repeats_blocks<M>, detail::split_within_t<typename M::net>, typename M::net>;

  decltype(M::config) config;

  template <class Same = M>
    requires requires(Same const& m, workload const& load) { m.input(load); }
  constexpr extents input(workload const& load) const { return Same{config}.input(load); }

  static_assert(repeats_blocks<M>,
                "redco[L003]: sequence_parallel finds no repeated block in the model; write redco::split_tokens into "
                "the model's net where its tokens are to be split");
};

template <class M>
inline constexpr bool is_sequence_parallel = false;
template <model M>
inline constexpr bool is_sequence_parallel<sequence_parallel<M>> = true;

}  // namespace redco
