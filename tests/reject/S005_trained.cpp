// torch
// A layer of the user's own that reads a pending sum is one error in a program that trains.
#include "points.hpp"
#include <redco/tensor/tensor.hpp>
#include <redco/layer/wrappers.hpp>

template <class Sums>
struct squared {
  using layer_concept = redco::layers::leaf_tag;
  template <class X>
  using out = redco::layers::out_t<redco::relu, redco::layers::finished_t<redco::layers::out_t<Sums, X>>>;
  template <class X, class Config>
  static constexpr void facts(Config const& config, redco::fact::recorder& w) {
    Sums::template facts<X>(config, w);
    redco::fact::detail::finish_facts<redco::layers::out_t<Sums, X>>(w);
  }
};
template <class Sums, class X>
struct redco::module<squared<Sums>, X> {
  template <class Config>
  explicit module(redco::nn::builder<Config>& b) : sums(b) {}
  template <class Context>
  auto operator()(tensor<X> const& x, Context const& ctx) const {
#if REDCO_ACCEPT
    auto const y = redco::nn::detail::finish(sums(x, ctx), ctx.pass());
    return y * y;
#else  // expect: redco[S005]
    auto const y = sums(x, ctx);
    return redco::nn::detail::finish(y * y, ctx.pass());
#endif
  }
  redco::module<Sums, X> sums;
};
using network =
    squared<redco::sequential<redco::layers::enter_layer, redco::column_linear<1, 8>, redco::row_linear<8, 1>>>;
inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
