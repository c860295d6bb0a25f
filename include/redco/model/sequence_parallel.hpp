#pragma once

#include <redco/layer/initialised.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/split_tokens.hpp>

#include <redco/model/model.hpp>

#include <type_traits>

namespace redco {

namespace detail {

template <class L>
inline constexpr bool is_repeat = false;
template <auto Times, class Block>
inline constexpr bool is_repeat<repeat<Times, Block>> = true;
template <fixed_string Name, class L>
inline constexpr bool is_repeat<named<Name, L>> = is_repeat<L>;

/// `Before` and then `After...`, with the tokens split where the first repeat begins.
template <class Before, class... After>
struct split_before_repeat {
  using type = Before;
  static_assert(
      sizeof...(After) > 0,
      "redco[L003]: sequence_parallel finds no repeated block in the model; write redco::split_tokens into the "
      "model's net where its tokens are to be split");
};
template <class... Before, class Next, class... After>
struct split_before_repeat<sequential<Before...>, Next, After...>
    : std::conditional_t<is_repeat<Next>, std::type_identity<sequential<Before..., split_tokens, Next, After...>>,
                         split_before_repeat<sequential<Before..., Next>, After...>> {};

template <class Net>
struct token_split_net : split_before_repeat<Net> {};
template <class First, class... Rest>
struct token_split_net<sequential<First, Rest...>> : split_before_repeat<sequential<First>, Rest...> {};
template <auto Deviation, class L>
struct token_split_net<initialised<Deviation, L>> {
  using type = initialised<Deviation, typename token_split_net<L>::type>;
};

}  // namespace detail

/// `M` with its tokens split between blocks (see `split_tokens`): the same sizes, parameters, names and losses.
///   constexpr redco::sequence_parallel<redco::gpt2> model{{.width = 384, .heads = 6, .layers = 6}};
template <model M>
struct sequence_parallel {
  using net = typename detail::token_split_net<typename M::net>::type;

  decltype(M::config) config;
};

}  // namespace redco
