#pragma once

#include <redco/layer/extent_of.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/tree.hpp>
#include <redco/fact/block_slices.hpp>
#include <redco/fact/event.hpp>
#include <redco/fact/finish.hpp>
#include <redco/fact/path.hpp>
#include <redco/fact/program.hpp>
#include <redco/fact/recorder.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/meta/fixed_string.hpp>
#include <redco/meta/glob.hpp>

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

namespace redco {

/// A stack of `Times` blocks, each with its own parameters "<index>.<name>". Several block types
/// alternate: block i has type i mod n of n types, and the last cycle may be incomplete. Each block
/// type is planned, instantiated and compiled once. `transform_blocks` rewrites blocks by index.
template <auto Times, layer... Blocks>
  requires(sizeof...(Blocks) > 0)
struct repeat {
  using layer_concept = layers::layer_tag;
  using subs = layers::parts<layers::detail::part_of_repeat<Blocks>...>;
  template <class... Others>
  using rebind = repeat<Times, Others...>;
  static constexpr bool unnamed = (layers::is_unnamed<Blocks> || ...);

  template <class X>
  using out = typename layers::detail::repeat_out<X, layers::out_t<layers::unpaired_t<Blocks>, X>...>::type;

  template <class X, class Config>
  static constexpr void facts(Config const& config, fact::recorder& w) {
    std::int64_t const times = w.size("blocks", layers::extent_of<Times>(config));
    // Sizes that a block derives from the number of blocks may be invalid.
    if (times != layers::extent_of<Times>(config)) return;
    rows_facts<X>(config, w, times, layers::detail::rows_of<Blocks...>());
  }

 private:
  template <class X, class... Rows, class Config>
  static constexpr void rows_facts(Config const& config, fact::recorder& w, std::int64_t times,
                                   layers::detail::rows<Rows...>) {
    std::int64_t last = 0;
    ((last = Rows::begin), ...);
    if (w.size("blocks", times, last, fact::mistake::blocks) == times)
      w.row(times, [&] { (Rows::template row_facts<X>(config, w, times), ...); });
  }
};

}  // namespace redco

namespace redco::layers::detail {

template <class L>
inline constexpr bool is_repeat = false;
template <auto Times, class... Blocks>
inline constexpr bool is_repeat<repeat<Times, Blocks...>> = true;

template <class L, class Parts>
inline constexpr bool has_repeat_in = false;
/// True if the layer is a `repeat` or contains one.
template <class L>
inline constexpr bool has_repeat = is_repeat<L> || has_repeat_in<L, parts_of<L>>;
template <class L, class... Parts>
inline constexpr bool has_repeat_in<L, parts<Parts...>> = (has_repeat<typename Parts::layer> || ...);

/// Returns a tuple with the type `Row`, or an empty tuple if the range of `Row` has no blocks.
template <class Row>
constexpr auto row_if() {
  if constexpr (Row::is_empty) return std::tuple<>();
  else return std::tuple<std::type_identity<Row>>();
}

/// Returns the types that replace `row` (a range of blocks) after its blocks in `Named` are
/// rewritten. These are up to three rows: before, inside and after `Named`. If the rewrite changes
/// no block type, the row itself is returned.
template <shape::block_range Named, class Rewrite, fact::path Here, shape::block_range Range, class... Kinds>
constexpr auto cut_row(std::type_identity<blocks_in<Range, Kinds...>> row) {
  using rewritten =
      blocks_in<Range.overlap(Named), typename transformed<Kinds, Rewrite, part<"*", Kinds>::under(Here)>::type...>;
  if constexpr (std::is_same_v<rewritten, blocks_in<Range.overlap(Named), Kinds...>>)
    return std::tuple<decltype(row)>();
  else
    return std::tuple_cat(row_if<blocks_in<Range.overlap({0, Named.begin}), Kinds...>>(), row_if<rewritten>(),
                          row_if<blocks_in<Range.overlap({Named.end, shape::block_range::no_end}), Kinds...>>());
}

template <auto Times, class... Rows>
repeat<Times, Rows...> repeat_of(std::tuple<std::type_identity<Rows>...>);
template <auto Times, class... Kinds>
repeat<Times, Kinds...> repeat_of(std::tuple<std::type_identity<blocks_in<shape::block_range{}, Kinds...>>>);

template <auto Times, shape::block_range Named, class Rewrite, fact::path Here, class... Rows>
auto cut_rows(rows<Rows...>)
    -> decltype(repeat_of<Times>(std::tuple_cat(cut_row<Named, Rewrite, Here>(std::type_identity<Rows>())...)));

/// A rewrite for `transform` that rewrites the blocks in `Named` of each `repeat` whose path
/// matches `Path`.
template <meta::fixed_string Path, shape::block_range Named, class Rewrite>
struct in_blocks {
  template <class L, fact::path Here>
  static constexpr bool holds = is_repeat<L>&& meta::glob(Path.view(), Here.view());

  template <class L, fact::path Here>
  struct at : std::type_identity<L> {};
  template <auto Times, class... Blocks, fact::path Here>
    requires holds<repeat<Times, Blocks...>, Here>
  struct at<repeat<Times, Blocks...>, Here>
      : std::type_identity<decltype(cut_rows<Times, Named, Rewrite, Here>(rows_of<Blocks...>()))> {
  };
};

/// Checks that the model has blocks in `Named` at `Path`. This is a function, because clang drops
/// names that a class declares after a failed static_assert.
template <layer Net, meta::fixed_string Path, shape::block_range Named>
consteval bool check_blocks() {
  constexpr bool exist = Named.begin >= 0 && !Named.is_empty() && any_layer<Net, in_blocks<Path, Named, void>>;
  static_assert(exist,
                "redco[L011]: a rewrite names blocks that the model does not have; name a repeat by its path, such as "
                "\"h\", and a range of at least one of its blocks");
  return exist;
}

}  // namespace redco::layers::detail

namespace redco::layers {

/// The layer tree `Net` with the blocks in `Named` rewritten by `Rewrite`, as `transform` does. It
/// concerns each outermost `repeat` whose path matches `Path` (`*`: any text, `?`: one character).
/// Names of parameters ("h.1.mlp.up"), checkpoints and indices of blocks stay those of the whole
/// model. Compile error: redco[L011] if no `repeat` has this path, for an empty range, and (in
/// `legal<>` and `fits<>`) if the range exceeds the blocks. `plan_of` throws exit code 64 then.
///
///   using net = transform_blocks<gpt2::net, "h", block_range{1, 3}, without_dropout>;
template <layer Net, meta::fixed_string Path, shape::block_range Named, class Rewrite>
using transform_blocks = std::conditional_t<detail::check_blocks<Net, Path, Named>(),
                                            transform<Net, detail::in_blocks<Path, Named, Rewrite>>, Net>;

}  // namespace redco::layers
