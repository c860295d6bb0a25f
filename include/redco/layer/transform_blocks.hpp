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

namespace redco {

namespace detail {

/// A list of one row, or of none where its range is empty.
template <class Row>
constexpr auto row_if() {
  if constexpr (Row::is_empty) return std::tuple<>();
  else return std::tuple<std::type_identity<Row>>();
}

constexpr block_range overlap(block_range const& a, block_range const& b) {
  return {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
}

/// A row with its blocks in `Named` rewritten: up to three rows, or the row where the rewrite changes none of its kinds.
template <block_range Named, class Rewrite, fact::path Here, block_range Range, class... Kinds>
constexpr auto cut_row(std::type_identity<blocks_in<Range, Kinds...>> row) {
  using rewritten =
      blocks_in<overlap(Range, Named), typename transformed<Kinds, Rewrite, part<"*", Kinds>::under(Here)>::type...>;
  if constexpr (std::is_same_v<rewritten, blocks_in<overlap(Range, Named), Kinds...>>)
    return std::tuple<decltype(row)>();
  else
    return std::tuple_cat(row_if<blocks_in<overlap(Range, {0, Named.begin}), Kinds...>>(), row_if<rewritten>(),
                          row_if<blocks_in<overlap(Range, {Named.end, block_range::no_end}), Kinds...>>());
}

template <auto Times, class... Rows>
repeat<Times, Rows...> repeat_of(std::tuple<std::type_identity<Rows>...>);
template <auto Times, class... Kinds>
repeat<Times, Kinds...> repeat_of(std::tuple<std::type_identity<blocks_in<block_range{}, Kinds...>>>);

template <auto Times, block_range Named, class Rewrite, fact::path Here, class... Rows>
auto cut_rows(rows<Rows...>)
    -> decltype(repeat_of<Times>(std::tuple_cat(cut_row<Named, Rewrite, Here>(std::type_identity<Rows>())...)));

/// Rewrites the blocks in `Named` of each repeat whose path matches `Path`.
template <fixed_string Path, block_range Named, class Rewrite>
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

/// In a function: clang drops a name that is declared by a class whose static_assert fails.
template <layer Net, fixed_string Path, block_range Named>
consteval bool check_blocks() {
  constexpr bool exist = Named.begin >= 0 && Named.begin < Named.end && any_layer<Net, in_blocks<Path, Named, void>>;
  static_assert(exist,
                "redco[L011]: a rewrite names blocks that the model does not have; name a repeat by its path, such as "
                "\"h\", and a range of at least one of its blocks");
  return exist;
}

}  // namespace detail

/// The layer tree `Net` with blocks `Named` of each `repeat` whose path matches `Path` (`*` any run, `?` one character)
/// rewritten as `transform` does, in which they have the paths of all blocks: "h.*.mlp". Names of parameters ("h.1.mlp.up"),
/// checkpoints and numbers of blocks stay those of the whole model; random sites are numbered from the first block to the last.
///
///   using net = transform_blocks<gpt2::net, "h", block_range{1, 3}, without_dropout>;  // blocks 1 and 2
///
/// A range may be rewritten again; where the rewrite changes nothing, the repeat stays the type that it was. Of repeats within
/// each other that match, the outermost is rewritten. Errors: redco[L011] for a path that is no repeat's, and for an empty range.
/// A range that begins or ends after the last block is redco[L011] of `legal<>` and `fits<>`, and exit code 64 of `plan_of`.
template <layer Net, fixed_string Path, block_range Named, class Rewrite>
using transform_blocks = std::conditional_t<detail::check_blocks<Net, Path, Named>(),
                                            transform<Net, detail::in_blocks<Path, Named, Rewrite>>, Net>;

}  // namespace redco
