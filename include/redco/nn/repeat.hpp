#pragma once

#include <redco/nn/context_entries.hpp>
#include <redco/nn/in_layer.hpp>
#include <redco/nn/module.hpp>
#include <redco/nn/recomputed.hpp>
#include <redco/nn/stage_link.hpp>
#include <redco/nn/value_source.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/layout.hpp>
#include <redco/diag/blame.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace redco::nn::detail {

/// A std::variant of the block modules of all block types, for a list of ranges of blocks (`rows`)
/// in order.
template <class X, class Rows, class... Modules>
struct any_block_of {
  using type = std::variant<Modules...>;
};
template <class X, shape::block_range Range, class... Kinds, class... Others, class... Modules>
struct any_block_of<X, layers::detail::rows<layers::detail::blocks_in<Range, Kinds...>, Others...>, Modules...>
    : any_block_of<X, layers::detail::rows<Others...>, Modules..., module<layers::unpaired_t<Kinds>, X>...> {};

}  // namespace redco::nn::detail

namespace redco {

template <auto Times, class... Blocks, class X>
struct module<repeat<Times, Blocks...>, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b) {
    auto const times = static_cast<std::size_t>(b.template extent<Times>());
    begin = b.taken().size();
    row_begin = b.blocks_before();
    blocks.reserve(times);
    make_rows<0>(b, times, layers::detail::rows_of<Blocks...>());
    row_end = b.blocks_before();
  }

  /// Runs the blocks of this rank (by default all, or those of its pipeline stage) one after
  /// another. Returns the last block's output. If the pipeline stage begins or ends here, receives
  /// the first block's input or sends the last block's output.
  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const& outer) const {
    recomputed_blocks const again = at::GradMode::is_enabled() ? outer.pass().recompute : recomputed_blocks();
    pass inner = outer.pass();
    inner.recompute = {};  // A repeat inside a recomputed block runs again with that block.
    nn::stage_link* const stage = std::exchange(inner.stage, nullptr);
    nn::value_source* const source = std::exchange(inner.values, nullptr);
    Context const ctx = outer.in(inner);
    tensor<X> y = stage != nullptr && stage->enters(row_begin, row_end) ? nn::detail::arrived<X>(stage->received()) : x;
    if (stage != nullptr && stage->is_outside()) return y;
    // A recomputed block takes the context's tensors as inputs, so the closure must not keep them
    // alive. It holds empty tensors, because an undefined tensor is an entry that is not set.
    auto const context_tensors = again.any() ? ctx.tensors() : std::vector<at::Tensor>();
    auto const hollow = again.any() ? ctx.over(std::vector<at::Tensor>(context_tensors.size(), at::empty({0}))) : ctx;
    auto const [first, last] = run_now(stage);
    for (std::size_t i = first; i < last; ++i) {
      std::int64_t const row = row_begin + static_cast<std::int64_t>(i);
      if (source != nullptr) source->enter(row);
      if (!again.has(static_cast<std::int64_t>(i))) {
        y = nn::detail::in_layer(std::to_string(i), y, ctx.pass(), [&] { return computed(blocks[i], y, ctx); });
      } else {
        auto const run = [&block = blocks[i], hollow, layout = y.like({})](std::span<at::Tensor const> inputs) {
          return computed(block, layout.like(inputs[0]), hollow.over(inputs.subspan(1))).local();
        };
        std::vector<at::Tensor> inputs{y.local()};
        inputs.insert(inputs.end(), context_tensors.begin(), context_tensors.end());
        y = y.like(nn::detail::in_layer(std::to_string(i), y.local(), [&] {
          return nn::recomputed(run, std::move(inputs), parameters_of(i, outer));
        }));
      }
      if (source != nullptr) y = y.like(nn::detail::with_values_in_backward(y.local(), *source, row));
    }
    if (stage != nullptr && stage->leaves(row_begin, row_end)) {
      nn::stage_tensors results{y.local(), {}, 0, shape::is_token_split<X>};
      if constexpr (Context::template has<nn::encoder_states>)
        results.states = outer.template get<nn::encoder_states>().local();
      stage->leave(std::move(results));
    }
    return y;
  }

  using any_block = typename nn::detail::any_block_of<X, layers::detail::rows_of<Blocks...>>::type;

  std::vector<any_block> blocks;
  /// For each block, the end index of its parameters in network().parameters()
  std::vector<std::size_t> ends;
  /// Index of the first block's first parameter in network().parameters()
  std::size_t begin;
  /// Range [first_run, end_run) of block indices that this rank runs
  std::size_t first_run = 0, end_run = 0;
  /// Range [row_begin, row_end) of this module's blocks, counted over all outermost `repeat`s
  std::int64_t row_begin = 0, row_end = 0;

 private:
  /// Returns the range of indices of the blocks that the current call runs.
  std::pair<std::size_t, std::size_t> run_now(nn::stage_link const* stage) const {
    if (stage == nullptr) return {first_run, end_run};
    shape::block_range const row = stage->blocks().overlap({row_begin, row_end});
    return {static_cast<std::size_t>(row.begin - row_begin), static_cast<std::size_t>(row.end - row_begin)};
  }

  /// Builds all blocks of the ranges in the list. `First` is the alternative of `any_block` for the
  /// first block type of the first range.
  template <std::size_t First, class Config, shape::block_range Range, class... Kinds, class... Others>
  void make_rows(nn::builder<Config>& b, std::size_t times,
                 layers::detail::rows<layers::detail::blocks_in<Range, Kinds...>, Others...>) {
    auto const end = std::min(times, static_cast<std::size_t>(Range.end));
    while (blocks.size() < end) make_round<First>(b, end, std::index_sequence_for<Kinds...>());
    if constexpr (sizeof...(Others) > 0)
      make_rows<First + sizeof...(Kinds)>(b, times, layers::detail::rows<Others...>());
  }

  /// Builds the next block of each block type in turn. Stops when the `repeat` has `end` blocks.
  template <std::size_t First, class Config, std::size_t... Kind>
  void make_round(nn::builder<Config>& b, std::size_t end, std::index_sequence<Kind...>) {
    auto const one = [&](auto kind, std::size_t turn) {
      if (blocks.size() == end || blocks.size() % sizeof...(Kind) != turn) return;
      b.inside(std::to_string(blocks.size()), [&] {
        bool const runs = b.block([&] { blocks.emplace_back(kind, b); });
        ends.push_back(b.taken().size());
        if (!runs) return;
        if (end_run == 0) first_run = blocks.size() - 1;
        end_run = blocks.size();
      });
    };
    (one(std::in_place_index<First + Kind>, Kind), ...);
  }

  template <class Context>
  std::span<at::Tensor const> parameters_of(std::size_t block, Context const& ctx) const {
    return ctx.parameters().range(block == 0 ? begin : ends[block - 1], ends[block]);
  }

  template <class Context>
  static tensor<X> computed(any_block const& block, tensor<X> const& x, Context const& ctx) {
    return std::visit(
        [&](auto const& one) -> tensor<X> {
          auto const y = nn::detail::finish<X>(one(x, ctx), ctx.pass());
          if constexpr (std::is_same_v<decltype(y), tensor<X> const>) return y;
          // The compile error redco[S007] has been printed already.
          else return diag::unmade<tensor<X>>();
        },
        block);
  }
};

}  // namespace redco
