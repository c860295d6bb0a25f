#pragma once

#include <redco/shard/legality.hpp>
#include <redco/shard/plan.hpp>

#include <redco/diag/blame.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace redco {

/// Widths that cut every parameter of a model, as far as the eighth.
template <int... Width>
struct legal_widths_are {};

/// The parameter that a check blames, as a type that both compilers print readably: its number of units (heads, columns or
/// rows), what would be legal, and its name.
template <std::int64_t Units, class Widths, char... Name>
struct blamed_parameter {};

namespace detail {

/// What legal<> asks: can this width cut so many units by this rule?
template <legality Broken>
struct width_check {
  redco::mesh mesh;
  std::int64_t units = 0;
  legality found = legality::ok;

  constexpr bool passed() const { return found != Broken; }
};

template <auto const& Model, mesh Mesh>
struct mesh_verdict {
  static constexpr auto facts = facts_of<Model>().parameters;
  static constexpr std::size_t at = first_illegal(facts, Mesh.mp);
  static constexpr legality found = at < facts.size() ? legality_of(facts[at], Mesh.mp) : legality::ok;
  static constexpr std::int64_t units = at < facts.size() ? facts[at].units : 0;

  static constexpr int most_widths = 8;
  /// The legal width number `i`, counted from zero; 0 where there are not so many.
  static constexpr int width(int i) {
    for (int n = 1; n <= 64; ++n)
      if (first_illegal(facts, n) == facts.size() && i-- == 0) return n;
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

}  // namespace detail

/// That the mesh can hold a constexpr model: `static_assert(redco::legal<model, redco::mesh{.dp = 1, .mp = 4}>{});`.
/// True, or one compile error that names the mesh, the first parameter at fault, its units and the
/// legal widths.
/// Errors: redco[S001] heads, redco[S002] key-value heads, redco[S003] any other split.
template <auto const& Model, mesh Mesh>
struct legal {
  using asked = detail::mesh_verdict<Model, Mesh>;
  static_assert(Mesh.dp > 0 && Mesh.mp > 0,
                "redco[S003]: a declared split does not divide; a mesh has at least one rank in each direction");
  static_assert(
      verdict<detail::width_check<legality::heads>{Mesh, asked::units, asked::found}, typename asked::blamed>{},
      "redco[S001]: the number of heads is not divisible by the mesh width; choose a width that divides the heads");
  static_assert(
      verdict<detail::width_check<legality::key_value_heads>{Mesh, asked::units, asked::found},
              typename asked::blamed>{},
      "redco[S002]: the key-value heads neither divide the mesh width nor are divided by it; choose a width that "
      "divides the key-value heads or is a multiple of them");
  static_assert(
      verdict<detail::width_check<legality::declared_split>{Mesh, asked::units, asked::found},
              typename asked::blamed>{},
      "redco[S003]: a declared split does not divide; choose a width that divides the units, or do not declare "
      "the split");
  static_assert(
      verdict<detail::width_check<legality::vocabulary>{Mesh, asked::units, asked::found}, typename asked::blamed>{},
      "redco[S003]: a declared split does not divide; choose a width of at most the rows of the vocabulary");

  constexpr operator bool() const { return true; }
};

}  // namespace redco
