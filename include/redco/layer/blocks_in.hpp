#pragma once

#include <redco/layer/layer.hpp>
#include <redco/layer/parts.hpp>
#include <redco/fact/block_slice.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/flow.hpp>
#include <redco/fact/recorder.hpp>
#include <redco/shape/block_range.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace redco::layers::detail {

template <class X, class... Ys>
struct repeat_out {
  using type = finished_t<X>;
  static_assert((std::is_same_v<X, finished_t<Ys, finished_t<X>>> && ...),
                "redco[S007]: the block of a repeat changes the layout; end it in the layout in which it begins");
};

/// The blocks of a `repeat` with indices in `Range`. Block i has type i mod n of the n types
/// `Kinds`. After a rewrite of blocks by index, a `repeat` is a list of such ranges, which together
/// have all of its blocks.
template <shape::block_range Range, layer... Kinds>
struct blocks_in {
  using layer_concept = layer_tag;
  using subs = parts<part<"*", Kinds>...>;
  template <class... Others>
  using rebind = blocks_in<Range, Others...>;
  static constexpr bool unnamed = (is_unnamed<Kinds> || ...);
  static constexpr bool is_empty = Range.is_empty();
  static constexpr std::int64_t begin = Range.begin;

  template <class X>
  using out = typename repeat_out<X, out_t<unpaired_t<Kinds>, X>...>::type;

  /// Declares to the recorder `w` the facts of the range's blocks, in a `repeat` of `times` blocks.
  template <class X, class Config>
  static constexpr void row_facts(Config const& config, fact::recorder& w, std::int64_t times) {
    shape::block_range const row = Range.overlap({0, times});
    if (row.is_empty()) return;
    fact::block_slice slice{row.end - row.begin, 0, count, row.begin, !(Range == shape::block_range())};
    turns_facts<X>(config, w, slice, std::index_sequence_for<Kinds...>());
  }

 private:
  static constexpr std::int64_t count = sizeof...(Kinds);

  /// Type of block number I of the range, counted from the range's first block.
  template <std::size_t I>
  using turn =
      unpaired_t<std::tuple_element_t<static_cast<std::size_t>((Range.begin + static_cast<std::int64_t>(I)) % count),
                                      std::tuple<Kinds...>>>;

  template <class X, class Config, std::size_t... I>
  static constexpr void turns_facts(Config const& config, fact::recorder& w, fact::block_slice& slice,
                                    std::index_sequence<I...>) {
    fact::flow last;
    (slice_facts<X, turn<I>>(config, w, slice, last), ...);
    w.activation = last;
  }

  /// Declares the facts of all blocks of type `Block`, if the range has any. Stores the output of
  /// the range's last block in `last` if that block has this type.
  template <class X, class Block, class Config>
  static constexpr void slice_facts(Config const& config, fact::recorder& w, fact::block_slice& slice,
                                    fact::flow& last) {
    if (slice.first < slice.times)
      w.repeated(slice, [&] {
        fact::flow const input = w.activation;
        Block::template facts<X>(config, w);
        fact::detail::finish_facts<out_t<Block, X>, X>(w);
        w.expect_like(input);
      });
    if (slice.has(slice.times - 1)) last = w.activation;
    ++slice.first;
  }
};

template <class L>
inline constexpr bool is_blocks_in = false;
template <shape::block_range Range, class... Kinds>
inline constexpr bool is_blocks_in<blocks_in<Range, Kinds...>> = true;

/// Declaration of a block type of a `repeat`, or of a range of blocks, as an inner layer. A block
/// type has the name "*"; a range has no name.
template <class Block>
using part_of_repeat = std::conditional_t<is_blocks_in<Block>, part<"", Block>, part<"*", Block>>;

/// A list of `blocks_in` that together have all blocks of a `repeat`.
template <class... Rows>
struct rows {};
template <class... Blocks>
using rows_of = std::conditional_t<(is_blocks_in<Blocks> && ...), rows<Blocks...>,
                                   rows<blocks_in<shape::block_range{}, Blocks...>>>;

}  // namespace redco::layers::detail
