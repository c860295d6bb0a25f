#pragma once

#include <redco/layer/any_layer.hpp>
#include <redco/layer/blocks_in.hpp>
#include <redco/layer/layer.hpp>
#include <redco/layer/parts.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/transform.hpp>
#include <redco/fact/path.hpp>
#include <redco/shape/block_range.hpp>

#include <redco/meta/fixed_string.hpp>
#include <redco/meta/glob.hpp>

#include <tuple>
#include <type_traits>

namespace redco::layers::detail {

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
