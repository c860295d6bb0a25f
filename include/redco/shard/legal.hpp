#pragma once

#include <redco/shard/entry.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/tree.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/stage_cuts.hpp>
#include <redco/diag/blame.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace redco::shard {

/// Rules for cutting a parameter over the ranks of a mesh axis; each value names the broken rule,
/// `ok` none.
enum class legality : std::uint8_t {
  ok,
  heads,  ///< Broken rule: the number of heads must be a multiple of the number of ranks (S001)
  /// Broken rule: the number of key-value heads must divide the number of ranks, or be a multiple
  /// of it (S002).
  key_value_heads,
  /// Broken rule: the units of an even split must be a multiple of the number of ranks (S003)
  declared_split,
  /// Broken rule: a vocabulary must have at least as many rows as there are ranks (S003)
  vocabulary,
};

/// Returns the rule that cutting the parameter `fact` over the mesh breaks, or `ok` if the mesh can
/// hold it.
constexpr legality legality_of(fact::parameter_fact const& fact, mesh const& on) {
  if (can_split(fact, on)) return legality::ok;
  switch (fact.why) {
    case fact::reason::heads: return legality::heads;
    case fact::reason::key_value_heads: return legality::key_value_heads;
    case fact::reason::vocabulary: return legality::vocabulary;
    default: return legality::declared_split;
  }
}

/// A type that shows legal numbers of ranks in a compile error. `Width` are the first eight numbers
/// of ranks along the faulty mesh axis over which all parameters can be cut.
template <int... Width>
struct legal_widths_are {};

/// A type that shows the parameter at fault in a compile error. `Units` is its number of heads,
/// columns or rows, and `Widths` has the legal numbers of ranks. `Name` is its name with one
/// template argument per character, which g++ and clang print readably.
template <std::int64_t Units, class Widths, char... Name>
struct blamed_parameter {};

/// Types that show two layers at fault in a compile error: one layer returns size `Extent`, the
/// other reads another size. `Layer` is the path of a layer; it is empty for the model's input.
template <std::int64_t Extent, char... Layer>
struct layer_gives {};
template <std::int64_t Extent, char... Layer>
struct layer_reads {};
template <class Gives, class Reads>
struct blamed_layers {};

/// A type that shows a layer with a wrong size in a compile error; `Layer` is its path.
template <std::int64_t Size, char... Layer>
struct layer_has {};

/// A type that shows a layer at fault in a compile error, because its size `Size` is not a multiple
/// of `Divisor`; `Layer` is its path.
template <std::int64_t Size, std::int64_t Divisor, char... Layer>
struct layer_divides {};

/// True if ranks along the mesh axis cp can compute parts of the sequences of a model.
template <auto const& Model>
inline constexpr bool divides_sequences =
    layers::divides_sequences<models::net_of<std::remove_cvref_t<decltype(Model)>>>;

}  // namespace redco::shard

namespace redco::shard::detail {

/// A check inside legal<>: fails if the sizes of the model contain a mistake of the kind `Broken`.
template <fact::mistake Broken>
struct size_check {
  fact::mistake found = fact::mistake::none;

  constexpr bool passed() const { return found != Broken; }
};

template <auto const& Model>
struct size_verdict {
  static constexpr fact::mistake_fact found = constant_facts_of<Model>.mistake;

  template <std::size_t... G, std::size_t... R>
  static constexpr auto blame(std::index_sequence<G...>, std::index_sequence<R...>) {
    if constexpr (found.kind == fact::mistake::divisor) {
      return layer_divides<found.found, found.wanted, found.reader.text[R]...>{};
    } else if constexpr (found.kind == fact::mistake::size || found.kind == fact::mistake::depth ||
                         found.kind == fact::mistake::blocks || found.kind == fact::mistake::experts) {
      return layer_has<found.found, found.reader.text[R]...>{};
    } else {
      return blamed_layers<layer_gives<found.found, found.producer.text[G]...>,
                           layer_reads<found.wanted, found.reader.text[R]...>>{};
    }
  }
  using blamed =
      decltype(blame(std::make_index_sequence<found.producer.size>{}, std::make_index_sequence<found.reader.size>{}));
};

/// A check inside legal<>: fails if cutting a parameter over the mesh breaks the rule `Broken`. The
/// members are printed in the compile error.
template <legality Broken>
struct width_check {
  redco::mesh mesh;
  std::int64_t units = 0;
  legality found = legality::ok;

  constexpr bool passed() const { return found != Broken; }
};

/// A check inside legal<>: fails if the mesh has more pipeline stages than the model permits. The
/// members are printed in the compile error.
struct stage_check {
  int stages = 1;
  std::int64_t most = 1;  ///< Largest number of stages into which the model can be cut

  constexpr bool passed() const { return stages <= most; }
};

template <auto const& Model, mesh Mesh>
struct mesh_verdict {
  static constexpr auto const& facts = constant_facts_of<Model>.parameters;
  /// Index of the first parameter that cannot be cut over the mesh, or the number of parameters if
  /// there is none. A model with wrong sizes counts as having none, because wrong sizes are a
  /// separate error.
  static constexpr std::size_t at = constant_facts_of<Model>.mistake ? facts.size() : first_illegal(facts, Mesh);
  static constexpr legality found = at < facts.size() ? legality_of(facts[at], Mesh) : legality::ok;
  static constexpr shape::place broken = at < facts.size() ? illegal_place(facts[at], Mesh) : shape::place{};
  static constexpr std::int64_t units = broken.units;

  /// Largest number of pipeline stages; a model with wrong sizes has a separate error.
  static constexpr std::int64_t most_stages =
      constant_facts_of<Model>.mistake ? Mesh.pp : constant_facts_of<Model>.most_stages;

  static constexpr int most_widths = 8;
  /// Returns the legal number of ranks with index `i` (from 0) along the mesh axis at fault, or 0
  /// if there are fewer legal numbers.
  static constexpr int width(int i) {
    for (int n = 1; n <= 64; ++n)
      if (first_illegal(facts, line_of(broken.axis, n)) == facts.size() && i-- == 0) return n;
    return 0;
  }
  static constexpr int width_count() {
    int count = 0;
    while (count < most_widths && width(count) > 0) ++count;
    return count;
  }

  template <int... I>
  static legal_widths_are<width(I)...> widths(std::integer_sequence<int, I...>);
  template <class Widths, std::size_t... I>
  static blamed_parameter<units, Widths, facts[at].name.text[I]...> name(std::index_sequence<I...>);
  static constexpr auto blamed_by() {
    if constexpr (at < facts.size()) {
      using legal = decltype(widths(std::make_integer_sequence<int, width_count()>()));
      return decltype(name<legal>(std::make_index_sequence<facts[at].name.size>{})){};
    } else {
      return blamed_parameter<0, legal_widths_are<>>{};
    }
  }
  using blamed = decltype(blamed_by());
};

}  // namespace redco::shard::detail

namespace redco {

/// A compile-time check that a mesh can hold a constexpr model: converts to true, or gives one
/// compile error.
///
/// static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 4}>{});
///
/// The error shows what is at fault, and legal numbers of ranks. Codes for sizes: redco[L004] to
/// [L006], [L009] to [L012]. Codes for the mesh: redco[S001] to [S003], [S010] and [S011].
template <auto const& Model, mesh Mesh>
struct legal {
  using sizes = shard::detail::size_verdict<Model>;
  using asked = shard::detail::mesh_verdict<Model, Mesh>;
  using blamed = typename asked::blamed;
  template <shard::legality What>
  using check = shard::detail::width_check<What>;
  static_assert(
      diag::verdict<shard::detail::size_check<fact::mistake::width>{sizes::found.kind}, typename sizes::blamed>{},
      "redco[L004]: a layer reads another width than its input has; make what one layer gives and the next one "
      "reads equal");
  static_assert(
      diag::verdict<shard::detail::size_check<fact::mistake::rank>{sizes::found.kind}, typename sizes::blamed>{},
      "redco[L005]: a layer reads another number of dimensions than its input has; state the model's input with "
      "model_of<net, input<...>> or a member input(workload)");
  static_assert(
      diag::verdict<shard::detail::size_check<fact::mistake::size>{sizes::found.kind}, typename sizes::blamed>{},
      "redco[L006]: a size of a layer is below one; give it at least one");
  static_assert(
      diag::verdict<shard::detail::size_check<fact::mistake::divisor>{sizes::found.kind}, typename sizes::blamed>{},
      "redco[L009]: a size of a layer is not a multiple of another size; make it a multiple");
  static_assert(
      diag::verdict<shard::detail::size_check<fact::mistake::depth>{sizes::found.kind}, typename sizes::blamed>{},
      "redco[L010]: a layer is nested too deeply; keep its path within 80 characters and nest at most six repeats");
  static_assert(
      diag::verdict<shard::detail::size_check<fact::mistake::blocks>{sizes::found.kind}, typename sizes::blamed>{},
      "redco[L011]: a rewrite names blocks that the model does not have; name a repeat by its path, such as \"h\", and a "
      "range of at least one of its blocks");
  static_assert(
      diag::verdict<shard::detail::size_check<fact::mistake::experts>{sizes::found.kind}, typename sizes::blamed>{},
      "redco[L012]: a mixture of experts chooses more than it has, or does not descend; choose at most all experts and "
      "groups, and an r between 0 and 1");
  static_assert(shard::plannable(Mesh) || (Mesh.pp > shape::stage_cuts::most_stages),
                "redco[S003]: a declared split does not divide; a mesh has at least one rank along each axis");
  static_assert(
      diag::verdict<shard::detail::stage_check{Mesh.pp, asked::most_stages}>{},
      "redco[S010]: the model cannot be cut into so many pipeline stages; choose at most as many stages as it has "
      "blocks");
  static_assert(Mesh.cp == 1 || shard::divides_sequences<Model>,
                "redco[S011]: ranks along cp divide sequences that a layer needs whole; give cp = 1, or a model "
                "of layers that declare by_token");
  static_assert(
      diag::verdict<check<shard::legality::heads>{Mesh, asked::units, asked::found}, blamed>{},
      "redco[S001]: the number of heads is not divisible by the mesh width; choose a width that divides the heads");
  static_assert(
      diag::verdict<check<shard::legality::key_value_heads>{Mesh, asked::units, asked::found}, blamed>{},
      "redco[S002]: the key-value heads neither divide the mesh width nor are divided by it; choose a width that "
      "divides the key-value heads or is a multiple of them");
  static_assert(
      diag::verdict<check<shard::legality::declared_split>{Mesh, asked::units, asked::found}, blamed>{},
      "redco[S003]: a declared split does not divide; choose a width that divides the units, or do not declare "
      "the split");
  static_assert(diag::verdict<check<shard::legality::vocabulary>{Mesh, asked::units, asked::found}, blamed>{},
                "redco[S003]: a declared split does not divide; choose a width of at most the rows of the vocabulary");

  constexpr operator bool() const { return true; }
};

}  // namespace redco
