#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/parts.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/recorder.hpp>

#include <type_traits>

namespace redco::layers::detail {

template <class X, class Y>
struct residual_out {
  using type = finished_t<X>;
  static_assert(
      std::is_same_v<type, finished_t<Y, type>>,
      "redco[S008]: a residual branch gives another layout than its input; close its split inside the branch");
};

}  // namespace redco::layers::detail

namespace redco {

/// A residual connection, x + Branch(x). If the branch returns a pending sum over the ranks, this
/// sum is reduced once. x and the branch's biases are added after the reduction.
template <layer Branch>
struct residual {
  using layer_concept = layers::layer_tag;
  using subs = layers::parts<layers::part<"", Branch>>;
  template <class Other>
  using rebind = residual<Other>;
  static constexpr bool unnamed = layers::is_unnamed<Branch>;

  using body = layers::unpaired_t<Branch>;

  template <class X>
  using out = typename layers::detail::residual_out<X, layers::out_t<body, X>>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    fact::flow const input = w.activation;
    w.carrying(w.activation, [&] {
      body::template facts<X>(config, w);
      fact::detail::finish_facts<layers::out_t<body, X>, layers::finished_t<X>>(w);
    });
    w.expect_like(input);
    w.read(input);
    w.produce(w.activation.shape, w.activation.split_dim, w.activation.units, fact::making::add);
  }
};

}  // namespace redco
