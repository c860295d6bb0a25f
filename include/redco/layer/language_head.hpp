#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/of.hpp>
#include <redco/layer/walk.hpp>

#include <redco/meta/fixed_string.hpp>

#include <type_traits>

namespace redco {

/// What a language head gives: not a tensor but a handle on hidden states and head, so that whole logits are made only for
/// who asks.
struct as_logits {};

namespace detail {

template <class X>
struct head_out {
  static_assert(!std::is_same_v<X, partial>,
                "redco[S005]: a partial value is used as replicated; reduce it before this layer");
  static_assert(!is_split<X>,
                "redco[S008]: this layer needs whole features but its input is split; close the split before it");
  using type = as_logits;
};

}  // namespace detail

/// The vocabulary-parallel head of a language model over hidden states [B, T, Width]. `Tied` names the embedding whose table
/// is used again (its full path, such as "wte.weight"); empty: the head owns "weight" [Vocabulary, Width].
template <auto Vocabulary, auto Width, fixed_string Tied = "">
struct language_head {
  using layer_concept = layer_tag;

  template <class X>
  using out = typename detail::head_out<X>::type;

  template <class X, class Config, class Walk>
  static constexpr void facts(Config const& config, Walk& w) {
    std::int64_t const rows = of<Vocabulary>(config), width = of<Width>(config);
    if constexpr (Tied.view().empty()) {
      parameter_fact weight;
      weight.shape = {rows, width};
      weight.split_dim = 0;
      weight.units = rows;
      weight.uneven = true;
      weight.start = {initial::kind::normal, 1.0 / square_root(3.0 * static_cast<double>(width))};
      weight.why = reason::vocabulary;
      w.parameter("weight", weight);
    }
    if constexpr (std::is_same_v<X, replicated>) w.message(collective::all_reduce, true, w.activation.shape);
    w.keep("hidden");
  }
};

}  // namespace redco
