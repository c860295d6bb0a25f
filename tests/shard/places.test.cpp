// Compares the arithmetic of places with a plain enumeration: for every element of a parameter, the
// ranks that hold it and its owner.
#include "catch.hpp"

#include <redco/shard/entry.hpp>

#include <cstdint>
#include <type_traits>

namespace {

using redco::shape::axis, redco::shard::entry, redco::extents, redco::mesh, redco::fact::parameter_fact,
    redco::shape::place, redco::shape::remainder;

/// Returns true if a rank holds index `at` along the place's dimension, counted unit by unit.
bool holds(place const& p, std::int64_t extent, mesh const& on, int rank, std::int64_t at) {
  int const ranks = on[p.axis], mine = on.coordinate(rank, p.axis);
  std::int64_t const unit = at / (extent / p.units);
  if (p.rest == remainder::shared && p.units < ranks) return unit == mine / (ranks / p.units);
  std::int64_t each = p.units / ranks;
  if (each * ranks < p.units) ++each;
  return unit >= each * mine && unit < each * (mine + 1);
}

extents index_of(extents const& shape, std::int64_t element) {
  extents at = shape;
  for (int d = shape.rank - 1; d >= 0; --d) {
    at[d] = element % shape[d];
    element /= shape[d];
  }
  return at;
}

bool agrees(entry const& e) {
  extents const& shape = e.fact.shape;
  for (std::int64_t element = 0; element < shape.count(); ++element) {
    extents const at = index_of(shape, element);
    int holders = 0, owners = 0;
    for (int rank = 0; rank < e.mesh.ranks(); ++rank) {
      extents const begin = e.offset(rank), part = e.logical(rank), local = e.local();
      bool wanted = true, held = true;
      for (place const& p : e.fact.places)
        if (p.dim >= 0) wanted = wanted && holds(p, shape[p.dim], e.mesh, rank, at[p.dim]);
      if (!e.is_held_by(rank)) continue;
      std::int64_t row = 0;
      for (int d = 0; d < shape.rank; ++d) {
        held = held && at[d] >= begin[d] && at[d] < begin[d] + part[d];
        if (part[d] < 0 || part[d] > local[d] || begin[d] + part[d] > shape[d]) return false;
        if (d < shape.rank - 1) row = row * part[d] + at[d] - begin[d];
      }
      if (held != wanted) return false;
      if (!held) continue;
      if (e.first_of_row(rank, row) + at[-1] - begin[-1] != element) return false;
      ++holders;
      owners += e.owns(rank);
    }
    if (holders != e.holders(redco::shape::every_axis) || owners != 1) return false;
  }
  return true;
}

constexpr parameter_fact fact_of(extents const& shape, place const& first, place const& second = {}) {
  parameter_fact f;
  f.shape = shape;
  f.split(first.axis, first.dim, first.units, first.rest).split(second.axis, second.dim, second.units, second.rest);
  return f;
}

constexpr mesh meshes[] = {{},
                           {.dp = 3, .tp = 2},
                           {.ep = 3},
                           {.dp = 2, .ep = 2, .tp = 3},
                           {.ep = 5, .tp = 2},
                           {.pp = 2, .ep = 2, .tp = 4},
                           {.dp = 2, .ep = 6, .tp = 1}};

/// Checks a parameter on every mesh that can hold it. There must be at least `least` such meshes.
bool all_agree(parameter_fact const& f, int least) {
  int legal = 0;
  for (mesh const& on : meshes) {
    if (!redco::shard::can_split(f, on)) continue;
    if (!agrees({f, on})) return false;
    ++legal;
  }
  return legal >= least;
}

// Meshes that cannot split an expert along one of its places.
constexpr parameter_fact expert = fact_of({6, 5, 4}, {axis::ep, 0, 6}, {axis::tp, 2, 2});
static_assert(redco::shard::can_split(expert, {.ep = 3, .tp = 2}) && !redco::shard::can_split(expert, {.ep = 4}) &&
              !redco::shard::can_split(expert, {.tp = 3}));
static_assert(expert.on(axis::ep).units == 6 && expert.on(axis::tp).dim == 2 && expert.on(axis::dp).dim == -1);

// Only replicas hold equal copies of an expert; every rank holds a copy of a replicated parameter.
// The gradient's norm is summed over all ranks that are not replicas, and weighs each parameter by
// its holders.
constexpr mesh on{.dp = 2, .ep = 3, .tp = 2};
static_assert(entry{expert, on}.holders(redco::shape::every_axis) == 2 &&
              entry{expert, on}.holders(redco::shape::model_axes) == 1);
static_assert(entry{fact_of({5}, {}), on}.holders(redco::shape::model_axes) == 6);
static_assert(entry{fact_of({6, 5}, {axis::ep, 0, 6}), on}.holders(redco::shape::model_axes) == 2);

template <int>
constexpr bool splits(int dim, axis over) {
  parameter_fact f = expert;
  f.places[1] = {};
  f.split(over, dim, 2);
  return true;
}
template <int Dim, axis Over>
concept can_add = requires {
  typename std::integral_constant<bool, splits<0>(Dim, Over)>;
};
static_assert(can_add<2, axis::tp> && !can_add<0, axis::tp> && !can_add<2, axis::ep>);

}  // namespace

TEST_CASE("every element of a parameter is on the ranks that its places give, and has one owner") {
  // A whole parameter; rows of a vocabulary that no width divides; heads; heads that neighbours
  // share.
  CHECK(all_agree(fact_of({5, 3}, {axis::tp, -1}), 7));
  CHECK(all_agree(fact_of({7, 3}, {axis::tp, 0, 7, remainder::padded}), 7));
  CHECK(all_agree(fact_of({3, 12}, {axis::tp, 1, 4}), 6));
  CHECK(all_agree(fact_of({6}, {axis::tp, 0, 2, remainder::shared}), 6));
  CHECK(all_agree(fact_of({4, 2}, {axis::ep, 0, 2, remainder::shared}), 5));

  // Splits over two axes: experts by their columns, a padded and a shared dimension, dimensions in
  // either order.
  CHECK(all_agree(fact_of({6, 5, 4}, {axis::ep, 0, 6}, {axis::tp, 2, 2}), 4));
  CHECK(all_agree(fact_of({3, 7, 4}, {axis::ep, 1, 7, remainder::padded}, {axis::tp, 2, 2, remainder::shared}), 6));
  CHECK(all_agree(fact_of({9, 4}, {axis::tp, 0, 9, remainder::padded}, {axis::ep, 1, 2, remainder::shared}), 5));
  CHECK(all_agree(fact_of({6, 5}, {axis::dp, 1, 5, remainder::padded}, {axis::ep, 0, 6}), 5));
}

TEST_CASE("a parameter has one owner among the stages that hold it") {
  mesh const stages{.pp = 5, .dp = 2, .ep = 3, .tp = 2};
  using redco::shape::stage_set;
  for (stage_set const& some :
       {stage_set{}, stage_set::of({0}), stage_set::of({3}), stage_set::of({0, 4}), stage_set::of({1, 2, 4})}) {
    CHECK(agrees({expert, stages, some}));
    CHECK(agrees({fact_of({7, 3}, {axis::tp, 0, 7, remainder::padded}), stages, some}));
  }
  // A tied embedding on the first and the last of five stages. Two stages hold it, and so do all
  // ranks of the other axes that do not split it.
  entry const tied{fact_of({6, 2}, {axis::tp, 0, 6}), stages, stage_set::of({0, 4})};
  CHECK((tied.holders(redco::shape::axis::pp) == 2 && tied.holders(redco::shape::model_axes) == 2 * 3));
  CHECK((tied.is_held_by(0) && !tied.is_held_by(12) && tied.is_held_by(48) && tied.owns(0) && !tied.owns(48)));
  CHECK((stage_set{}.count(64) == 64 && stage_set::of({63}).has(63) && !stage_set::of({63}).has(62)));
}
