#pragma once

#include <redco/layer/repeat.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/recomputed.hpp>

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
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (!again) {
        y = detail::settle<X>(blocks[i](y, ctx), ctx.mp());
        continue;
      }
      auto const run = [&block = blocks[i], ctx, layout = y.like({})](std::span<at::Tensor const> inputs) {
        auto const beside = ctx.over(inputs.subspan(1));
        return detail::settle<X>(block(layout.like(inputs[0]), beside), ctx.mp()).local();
      };
      auto inputs = ctx.tensors();
      inputs.insert(inputs.begin(), y.local());
      y = y.like(recomputed(run, std::move(inputs), block_leaves[i]));
    }
    return y;
  }

  std::vector<module<typename repeat<Times, Block>::body, X>> blocks;
  std::vector<std::vector<at::Tensor>> block_leaves;
};

}  // namespace redco
