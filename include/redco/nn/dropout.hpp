#pragma once

#include <redco/nn/module.hpp>
#include <redco/kernel/dropout.hpp>
#include <redco/layer/dropout.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace redco {

template <auto Probability, class X>
struct module<dropout<Probability>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : probability(b.template probability<Probability>()), site(b.site()), tp_index(b.coordinate(shape::axis::tp)) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const& ctx) const {
    if (!ctx.pass().training || probability == 0) return x;
    std::int64_t const feature0 = shape::is_feature_split<X> ? tp_index * x.local().size(-1) : 0;
    std::int64_t const begin = shape::is_token_split<X> ? tp_index * x.local().size(1) : 0;
    auto const dropped = [&](at::Tensor const& tokens, std::int64_t position0) {
      return kernel::dropout(tokens, probability, ctx.at(site), ctx.pass().first_row(tokens.size(0)), feature0,
                             position0);
    };
    if (ctx.pass().cp == nullptr) return x.like(dropped(x.local(), begin));
    return x.like(of_runs(x.local(), begin, ctx.pass().tokens, dropped));
  }

  double probability;
  std::uint32_t site;
  int tp_index;

 private:
  /// Returns `x`, the tokens from index `begin` of a part of a sequence on, after dropout of each
  /// of the part's two runs.
  template <class Dropped>
  static at::Tensor of_runs(at::Tensor const& x, std::int64_t begin, shape::sequence_part const& part,
                            Dropped const& dropped) {
    std::int64_t const end = begin + x.size(1), cut = std::clamp(part.of_run(), begin, end);
    auto const [low, high] = part.runs();
    std::vector<at::Tensor> runs;
    if (begin < cut) runs.push_back(dropped(x.narrow(1, 0, cut - begin), low.first + begin));
    if (cut < end) runs.push_back(dropped(x.narrow(1, cut - begin, end - cut), high.first + cut - part.of_run()));
    return at::cat(runs, 1);
  }
};

}  // namespace redco
