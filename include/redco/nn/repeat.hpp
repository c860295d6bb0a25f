#pragma once

#include <redco/layer/repeat.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/recomputed.hpp>

#include <cstdint>
#include <string>
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
    tensor<X> y = x;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      auto const run = [&block = blocks[i], ctx](at::Tensor const& input) {
        return detail::settle(block(tensor<X>(input), ctx), ctx.mp()).local();
      };
      y = tensor<X>(ctx.pass().recompute && at::GradMode::is_enabled() ? recomputed(run, y.local(), block_leaves[i])
                                                                        : run(y.local()));
    }
    return y;
  }

  std::vector<module<Block, X>> blocks;
  std::vector<std::vector<at::Tensor>> block_leaves;
};

}  // namespace redco
