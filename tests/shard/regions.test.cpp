// Tests of the regions of the flat buffers.
#include "catch.hpp"

#include <redco/shard/regions.hpp>

#include <cstdint>
#include <vector>

namespace regions_test {

using redco::shape::axes, redco::shape::axis, redco::extents, redco::mesh, redco::shard::entry, redco::shard::region,
    redco::shard::regions;

constexpr entry dense(mesh const& ranks, bool decay) {
  entry e{{}, ranks};
  e.fact.shape = {5};
  e.fact.decay = decay;
  return e;
}
constexpr entry expert(mesh const& ranks, bool decay) {
  entry e = dense(ranks, decay);
  e.fact.shape = {6, 5};
  e.fact.split(axis::ep, 0, 6);
  return e;
}

constexpr regions made_of(mesh const& ranks) {
  regions all;
  all.add(region_of(dense(ranks, false), true), 1);
  all.add(region_of(expert(ranks, true), true), 20);
  all.add(region_of(dense(ranks, true), false), 300);
  all.add(region_of(dense(ranks, true), true), 4'000);
  all.add(region_of(expert(ranks, false), true), 50'000);
  all.add(region_of(dense(ranks, true), true), 600'000);
  return all;
}

std::vector<region> list(regions const& of) { return {of.begin(), of.end()}; }

TEST_CASE("regions are ordered by their sum axes, then decay, and frozen parameters come last") {
  axes const all = redco::shape::token_axes;
  CHECK(list(made_of({.ep = 2})) == std::vector<region>{{0, 604'000, true, true, all},
                                                        {604'000, 604'001, true, false, all},
                                                        {604'001, 604'021, true, true, axis::dp | axis::ds | axis::cp},
                                                        {604'021, 654'021, true, false, axis::dp | axis::ds | axis::cp},
                                                        {654'021, 654'321, false, false, {}}});
  static_assert(made_of({.ep = 2}).trained() == 654'021 && made_of({.ep = 2}).size() == 654'321);
  CHECK(list(made_of({.ep = 2}).sums()) ==
        std::vector<region>{{0, 604'001, true, true, all},
                            {604'001, 654'021, true, true, axis::dp | axis::ds | axis::cp}});
}

TEST_CASE("without expert-parallel ranks all gradients are summed at once, with and without decay") {
  axes const all = redco::shape::token_axes;
  CHECK(list(made_of({.dp = 2, .tp = 2})) == std::vector<region>{{0, 604'020, true, true, all},
                                                                 {604'020, 654'021, true, false, all},
                                                                 {654'021, 654'321, false, false, {}}});
  CHECK(list(made_of({}).sums()) == std::vector<region>{{0, 654'021, true, true, all}});
}

TEST_CASE("a region is found by an element and by its kind of parameter") {
  mesh const ranks{.ep = 2};
  regions const all = made_of(ranks);
  CHECK(
      (all.index_at(0) == 0 && all.index_at(604'000) == 1 && all.index_at(654'020) == 3 && all.index_at(654'021) == 4));
  CHECK(all.index_of(region_of(expert(ranks, false), true)) == 3);
  CHECK(all.index_of(region_of(expert(ranks, false), false)) == 4);
}

}  // namespace regions_test
