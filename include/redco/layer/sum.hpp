#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/walk.hpp>

#include <type_traits>

namespace redco {

namespace detail {

template <class... Ys>
struct sum_out {
  static constexpr bool any_partial = (std::is_same_v<Ys, partial> || ...);
  static constexpr bool summable = ((std::is_same_v<Ys, partial> || std::is_same_v<Ys, replicated>) && ...);
  using type = std::conditional_t<any_partial, partial, replicated>;
  static_assert(summable, "redco[S008]: parallel branches give layouts that cannot be added; close each branch's split");
};

}  // namespace detail

/// Parallel branches of one input, added: Branch1(x) + Branch2(x) + ... Partial branches are added before the one
/// reduction that follows, replicated ones ride along as its addends.
template <layer... Branches>
struct sum {
  using layer_concept = layer_tag;

  template <class X>
  using out = typename detail::sum_out<out_t<Branches, X>...>::type;

  template <class X, class Config, class Walk>
  static constexpr void facts(Config const& config, Walk& w) {
    flow const input = w.activation;
    auto const branch = [&]<class B>() {
      w.activation = input;
      B::template facts<X>(config, w);
    };
    (branch.template operator()<Branches>(), ...);
    w.produce(w.activation.shape);
  }
};

}  // namespace redco
