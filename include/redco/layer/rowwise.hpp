#pragma once

#include <redco/layer/elementwise.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/takes.hpp>
#include <redco/fact/recorder.hpp>

namespace redco {

/// A layer that applies a lambda to each row of features: `rowwise<[](auto const& x) { return x /
/// x.norm(2, -1, true); }>`. The function maps a tensor [..., features] to a tensor of equal shape
/// and dtype, without random numbers or captures. `Operations` is the number of tensors that it
/// makes. Compile error: redco[S008] if features are split over ranks. Throws `layer_error` if the
/// function returns another shape or dtype.
template <auto Function, int Operations = 3>
struct rowwise {
  using layer_concept = layers::leaf_tag;

  template <class X>
  using out = typename layers::detail::takes<layers::detail::needs::features_alike, X, X>::type;

  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    layers::detail::function_facts(w, Operations);
  }
};

}  // namespace redco
