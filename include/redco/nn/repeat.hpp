#pragma once

#include <redco/nn/in_layer.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/recomputed.hpp>
#include <redco/layer/repeat.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace redco {

template <auto Times, class Block, class X>
struct module<repeat<Times, Block>, X> {
  template <class Config>
  explicit module(builder<Config>& b) {
    auto const times = static_cast<std::int64_t>(b.template extent<Times>());
    blocks.reserve(static_cast<std::size_t>(times));
    for (std::int64_t i = 0; i < times; ++i)
      b.inside(std::to_string(i), [&] {
        std::size_t const before = b.taken().size();
        blocks.emplace_back(b);
        block_leaves.emplace_back(b.taken().begin() + static_cast<std::ptrdiff_t>(before), b.taken().end());
      });
  }

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const& ctx) const {
    bool const again = ctx.pass().recompute && at::GradMode::is_enabled();
    tensor<X> y = x;
    // What is run again in backward is given the tensors of the context as inputs; it keeps none alive by itself.
    auto const beside_all = again ? ctx.tensors() : std::vector<at::Tensor>();
    auto const hollow = again ? ctx.over(std::vector<at::Tensor>(beside_all.size())) : ctx;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (!again) {
        y = detail::in_layer(std::to_string(i), y.local(),
                             [&] { return detail::finish<X>(blocks[i](y, ctx), ctx.tp()); });
        continue;
      }
      auto const run = [&block = blocks[i], hollow, layout = y.like({})](std::span<at::Tensor const> inputs) {
        auto const beside = hollow.over(inputs.subspan(1));
        return detail::finish<X>(block(layout.like(inputs[0]), beside), beside.tp()).local();
      };
      std::vector<at::Tensor> inputs{y.local()};
      inputs.insert(inputs.end(), beside_all.begin(), beside_all.end());
      y = y.like(detail::in_layer(std::to_string(i), y.local(),
                                  [&] { return recomputed(run, std::move(inputs), block_leaves[i]); }));
    }
    return y;
  }

  std::vector<module<typename repeat<Times, Block>::body, X>> blocks;
  std::vector<std::vector<at::Tensor>> block_leaves;
};

}  // namespace redco
