#pragma once

#include <redco/layer/cut.hpp>
#include <redco/layer/encoder_decoder.hpp>
#include <redco/layer/gated.hpp>
#include <redco/layer/initialised.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/named.hpp>
#include <redco/layer/numbered.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/residual.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/sum.hpp>
#include <redco/layer/with_distance_bias.hpp>

#include <redco/meta/fixed_string.hpp>
#include <redco/meta/glob.hpp>

#include <cstddef>
#include <utility>

namespace redco {

namespace detail {

/// The layer tree with every automatic cut under a matching path made whole, and how many layers matched. `Here` is the
/// path of the layer, `Inside` whether an outer name has matched.
template <class L, fixed_string Pattern, class Here, bool Inside>
struct keep_whole {
  using type = L;
  static constexpr int matches = 0;
};

/// A dotted path as a type: its components are joined for matching.
template <fixed_string... Components>
struct path_of {
  static constexpr path joined() {
    path p;
    (p.push(Components.view()), ...);
    return p;
  }
  template <fixed_string Component>
  using then = path_of<Components..., Component>;
};

template <auto In, auto Out, auto Bias, cut Cut, fixed_string Pattern, class Here>
struct keep_whole<linear<In, Out, Bias, Cut>, Pattern, Here, true> {
  using type = linear<In, Out, Bias, cut::overridden>;
  static constexpr int matches = 1;
};

template <auto In, auto Out, class Activation, auto Bias, cut Cut, fixed_string Pattern, class Here>
struct keep_whole<gated<In, Out, Activation, Bias, Cut>, Pattern, Here, true> {
  using type = gated<In, Out, Activation, Bias, cut::overridden>;
  static constexpr int matches = 1;
};

template <fixed_string Name, class L, fixed_string Pattern, class Here, bool Inside>
struct keep_whole<named<Name, L>, Pattern, Here, Inside> {
  using there = typename Here::template then<Name>;
  static constexpr bool inside = Inside || glob(Pattern.view(), there::joined().view());
  using inner = keep_whole<L, Pattern, there, inside>;
  using type = named<Name, typename inner::type>;
  static constexpr int matches = inner::matches;
};

template <auto Deviation, class L, fixed_string Pattern, class Here, bool Inside>
struct keep_whole<initialised<Deviation, L>, Pattern, Here, Inside> {
  using inner = keep_whole<L, Pattern, Here, Inside>;
  using type = initialised<Deviation, typename inner::type>;
  static constexpr int matches = inner::matches;
};

template <auto Times, class L, fixed_string Pattern, class Here, bool Inside>
struct keep_whole<repeat<Times, L>, Pattern, Here, Inside> {
  using inner = keep_whole<L, Pattern, typename Here::template then<"*">, Inside>;
  using type = repeat<Times, typename inner::type>;
  static constexpr int matches = inner::matches;
};

template <attention_kind Kind, auto Heads, auto Buckets, auto Farthest, class L, fixed_string Pattern, class Here,
          bool Inside>
struct keep_whole<with_distance_bias<Kind, Heads, Buckets, Farthest, L>, Pattern, Here, Inside> {
  using inner = keep_whole<L, Pattern, Here, Inside>;
  using type = with_distance_bias<Kind, Heads, Buckets, Farthest, typename inner::type>;
  static constexpr int matches = inner::matches;
};

template <class L, fixed_string Pattern, class Here, bool Inside>
struct keep_whole<residual<L>, Pattern, Here, Inside> {
  using inner = keep_whole<L, Pattern, Here, Inside>;
  using type = residual<typename inner::type>;
  static constexpr int matches = inner::matches;
};

template <class Encoder, class Decoder, fixed_string Pattern, class Here, bool Inside>
struct keep_whole<encoder_decoder<Encoder, Decoder>, Pattern, Here, Inside> {
  using encoder = keep_whole<named<"encoder", Encoder>, Pattern, Here, Inside>;
  using decoder = keep_whole<named<"decoder", Decoder>, Pattern, Here, Inside>;
  using type = encoder_decoder<typename encoder::inner::type, typename decoder::inner::type>;
  static constexpr int matches = encoder::matches + decoder::matches;
};

/// The members of a sequence or sum, those without a name under their places.
template <template <class...> class Combinator, class Places, fixed_string Pattern, class Here, bool Inside,
          class... Ls>
struct keep_whole_members;
template <template <class...> class Combinator, std::size_t... Place, fixed_string Pattern, class Here, bool Inside,
          class... Ls>
struct keep_whole_members<Combinator, std::index_sequence<Place...>, Pattern, Here, Inside, Ls...> {
  using type = Combinator<typename keep_whole<numbered<Place, Ls>, Pattern, Here, Inside>::type...>;
  static constexpr int matches = (0 + ... + keep_whole<numbered<Place, Ls>, Pattern, Here, Inside>::matches);
};

template <class... Ls, fixed_string Pattern, class Here, bool Inside>
struct keep_whole<sequential<Ls...>, Pattern, Here, Inside>
    : keep_whole_members<sequential, std::index_sequence_for<Ls...>, Pattern, Here, Inside, Ls...> {};

template <class... Ls, fixed_string Pattern, class Here, bool Inside>
struct keep_whole<sum<Ls...>, Pattern, Here, Inside>
    : keep_whole_members<sum, std::index_sequence_for<Ls...>, Pattern, Here, Inside, Ls...> {};

template <class L, fixed_string Pattern>
struct checked_keep_whole : keep_whole<L, Pattern, path_of<>, glob(Pattern.view(), "")> {
  static_assert(checked_keep_whole::matches > 0,
                "redco[S009]: an override matches nothing; name a linear or gated layer that the model has");
};

}  // namespace detail

/// A user's override: `Net` with every linear and gated layer whose path matches `Pattern` (`*` any run, `?` one character)
/// kept whole on every rank: `using net = redco::keep_whole<gpt2::net, "h.*.mlp">;`. The plan states the reason.
/// Errors: redco[S009] when nothing matches.
template <layer Net, fixed_string Pattern>
using keep_whole = typename detail::checked_keep_whole<Net, Pattern>::type;

}  // namespace redco
