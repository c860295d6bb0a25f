#pragma once

#include <redco/layer/elementwise.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/takes.hpp>
#include <redco/fact/recorder.hpp>

namespace redco {

/// A function of each row of features by itself, as a lambda: `rowwise<[](auto const& x) { return x / x.norm(2, -1, true); }>`.
/// It is given a tensor [..., features] with all features and gives one like it; as for `elementwise`, else.
/// Errors: redco[S008] where its features are split; `layer_error` where the function gives another shape or dtype.
template <auto Function, int Operations = 3>
struct rowwise {
  using layer_concept = leaf_tag;

  template <class X>
  using out = typename detail::takes<detail::needs::features_alike, X, X>::type;

  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    detail::function_facts(w, Operations);
  }
};

}  // namespace redco
