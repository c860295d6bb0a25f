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

namespace redco::detail {

template <class X, class... Ys>
struct repeat_out {
  using type = finished_t<X>;
  static_assert((std::is_same_v<X, finished_t<Ys, finished_t<X>>> && ...),
                "redco[S007]: the block of a repeat changes the layout; end it in the layout in which it begins");
};

/// The blocks of a `repeat` that have their numbers in `Range`, and the kinds that take turns there: block i is the
/// (i mod n)-th of n. Stands among the blocks of a `repeat`, after and before such layers for all its other blocks.
template <block_range Range, layer... Kinds>
struct blocks_in {
  using layer_concept = layer_tag;
  using subs = parts<part<"*", Kinds>...>;
  template <class... Others>
  using rebind = blocks_in<Range, Others...>;
  static constexpr bool unnamed = (is_unnamed<Kinds> || ...);
  static constexpr bool is_empty = Range.begin >= Range.end;
  static constexpr std::int64_t begin = Range.begin;

  template <class X>
  using out = typename repeat_out<X, out_t<unpaired_t<Kinds>, X>...>::type;

  /// The facts of the blocks of the range in a `repeat` of `times`.
  template <class X, class Config>
  static constexpr void row_facts(Config const& config, fact::recorder& w, std::int64_t times) {
    std::int64_t const end = times < Range.end ? times : Range.end;
    if (end <= Range.begin) return;
    fact::block_slice slice{end - Range.begin, 0, count, Range.begin, !(Range == block_range())};
    turns_facts<X>(config, w, slice, std::index_sequence_for<Kinds...>());
  }

 private:
  static constexpr std::int64_t count = sizeof...(Kinds);

  /// The kind of the range's block I, counted from its first.
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

  /// The facts of the blocks of one kind, if the row has any; and the output of its last block, if it is among them.
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
template <block_range Range, class... Kinds>
inline constexpr bool is_blocks_in<blocks_in<Range, Kinds...>> = true;

/// A block of a `repeat` as its part; ranges of blocks have no name of their own.
template <class Block>
using part_of_repeat = std::conditional_t<is_blocks_in<Block>, part<"", Block>, part<"*", Block>>;

/// All blocks of a `repeat`, each row a `blocks_in`.
template <class... Rows>
struct rows {};
template <class... Blocks>
using rows_of =
    std::conditional_t<(is_blocks_in<Blocks> && ...), rows<Blocks...>, rows<blocks_in<block_range{}, Blocks...>>>;

}  // namespace redco::detail
