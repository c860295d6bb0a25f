// Tests of the layout of the flat buffers in which whole matrices belong to replicas.
#include "catch.hpp"

#include <redco/shard/facts.hpp>
#include <redco/shard/owners.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/shape/zero.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace owners_test {

using redco::mesh, redco::shard::owned_layout, redco::shard::owned_parameter, redco::shard::owned_parameter_of,
    redco::shard::region, redco::shard::shared_range;
using place = owned_layout::place;

constexpr redco::shape::axes batch = redco::shape::token_axes;
constexpr region decayed{0, 0, true, true, batch}, plain{0, 0, true, false, batch}, frozen{0, 0, false, false, {}};

constexpr owned_parameter whole(std::int64_t elements, bool joined = false) {
  return {decayed, elements, 1, true, joined};
}

constexpr owned_layout layout_of(std::vector<owned_parameter> const& all, mesh const& on) {
  return owned_layout(all, on);
}

std::vector<place> places_of(owned_layout const& of) {
  std::vector<place> all;
  for (std::vector<place> const& some : of.places) all.insert(all.end(), some.begin(), some.end());
  return all;
}

TEST_CASE("large parameters come first, each for the replica with the fewest elements") {
  // Descending: 7 to 0, 6 to 1, 5 to 1 (6 < 7), 4 to 0, 3 to 0 (11 = 11, equal totals), 2 to 1.
  owned_layout const found = layout_of({whole(3), whole(7), whole(2), whole(6), whole(5), whole(4)}, {.dp = 2});
  CHECK(places_of(found) == std::vector<place>{{11, 0}, {0, 0}, {25, 1}, {14, 1}, {20, 1}, {7, 0}});
  CHECK(found.shares == std::vector<shared_range>{{0, 28, batch, 2}});
  CHECK(found.kept == std::vector<std::vector<std::int64_t>>{{14, 13}});
  CHECK(found.regions.size() == 28);
  static_assert(layout_of({whole(3), whole(7), whole(2)}, {.dp = 2}).kept.front() == std::vector<std::int64_t>{7, 5});
}

TEST_CASE("parameters that are read as one matrix are adjacent and have one owner") {
  // The unit of 2 + 2 + 2 elements is larger than the parameter of 5.
  owned_layout const found = layout_of({whole(5), whole(2), whole(2, true), whole(2, true), whole(1)}, {.dp = 2});
  CHECK(places_of(found) == std::vector<place>{{6, 1}, {0, 0}, {2, 0}, {4, 0}, {11, 1}});
  // A parameter of another region does not separate them.
  owned_layout const mixed = layout_of({whole(2), {plain, 9, 1, false, true}, whole(3, true), whole(4)}, {.dp = 2});
  CHECK(places_of(mixed) == std::vector<place>{{0, 0}, {10, -1}, {2, 0}, {5, 1}});
}

TEST_CASE("other parameters follow in their order, and the replicas share their elements") {
  std::vector<owned_parameter> const all{{decayed, 5}, whole(4), {plain, 3}, {frozen, 2}, {decayed, 2}, {plain, 0}};
  owned_layout const found = layout_of(all, {.dp = 2});
  // Elements 0 to 7 hold whole parameters, 8 to 15 the other seven, 16 to 19 three without decay.
  CHECK(places_of(found) == std::vector<place>{{8, -1}, {0, 0}, {16, -1}, {20, -1}, {13, -1}, {19, -1}});
  CHECK(found.shares == std::vector<shared_range>{{0, 8, batch, 2}, {8, 16, batch, 2}, {16, 20, batch, 2}});
  CHECK(found.kept == std::vector<std::vector<std::int64_t>>{{4, 0}, {4, 3}, {2, 1}});
  CHECK((found.regions.trained() == 20 && found.regions.size() == 22));
}

TEST_CASE("the largest matrix of each region goes to a replica that has little of the other regions") {
  std::vector<owned_parameter> const all{whole(8), whole(1), {plain, 8, 1, true}, {plain, 1, 1, true}};
  owned_layout const found = layout_of(all, {.dp = 2});
  CHECK(places_of(found) == std::vector<place>{{0, 0}, {8, 1}, {24, 1}, {16, 0}});
}

TEST_CASE("owners of experts are among the ranks with equal experts, whatever other matrices these own") {
  constexpr region experts{0, 0, true, true, redco::shape::batch_axes.without(redco::shape::axis::ep)};
  std::vector<owned_parameter> const all{whole(9), whole(1), {experts, 8, 1, true}, {experts, 2, 1, true}};
  owned_layout const found = layout_of(all, {.dp = 2, .ep = 2});
  CHECK(places_of(found) == std::vector<place>{{0, 0}, {9, 1}, {36, 0}, {44, 1}});
  CHECK(found.shares == std::vector<shared_range>{{0, 36, batch, 4}, {36, 52, experts.summed_over, 2}});
  CHECK(found.kept == std::vector<std::vector<std::int64_t>>{{9, 1, 0, 0}, {8, 2}});
}

TEST_CASE("one large matrix, more replicas than matrices, and parameters without elements") {
  for (int const replicas : {1, 2, 3, 5}) {
    owned_layout const found = layout_of({whole(100), whole(0), {decayed, 0}, whole(3), {plain, 1}}, {.dp = replicas});
    std::vector<std::int64_t> kept(static_cast<std::size_t>(replicas), 0);
    for (std::size_t i = 0; i < found.shares.size(); ++i) {
      shared_range const& one = found.shares[i];
      CHECK(one.size() % replicas == 0);
      CHECK(*std::max_element(found.kept[i].begin(), found.kept[i].end()) == one.share());
      for (std::size_t r = 0; r < kept.size(); ++r) kept[r] += found.kept[i][r];
    }
    CHECK(std::accumulate(kept.begin(), kept.end(), std::int64_t{0}) == 104);
    CHECK(found.shares.front().size() == (replicas == 1 ? 103 : 100 * replicas));
  }
  owned_layout const none = layout_of({whole(0), {decayed, 0}, {frozen, 3}}, {.dp = 2});
  CHECK(none.shares.empty());
  CHECK((none.regions.size() == 3 && none.regions.trained() == 0));
}

TEST_CASE("copies of a parameter are placed like as many parameters") {
  std::vector<owned_parameter> const copies{{decayed, 6, 3, true, false, "b"}, {decayed, 6, 2, true, false, "a"}};
  std::vector<owned_parameter> each;
  for (owned_parameter p : {copies[0], copies[1], copies[0], copies[1], copies[0]}) p.copies = 1, each.push_back(p);
  owned_layout const together = layout_of(copies, {.dp = 2}), apart = layout_of(each, {.dp = 2});
  // Equal sizes are ordered by name: both "a" come before the three "b".
  CHECK(together.places == std::vector<std::vector<place>>{{{6, 0}, {24, 1}, {12, 0}}, {{0, 0}, {18, 1}}});
  CHECK(places_of(apart) == std::vector<place>{{6, 0}, {0, 0}, {24, 1}, {18, 1}, {12, 0}});
  CHECK(together.kept == apart.kept);
}

TEST_CASE("groups of replicas own matrices like a run of one group, and sum their gradients further") {
  std::vector<owned_parameter> const all{whole(7), whole(6), whole(5), {plain, 3}};
  redco::shape::axes const group = redco::shape::axis::ep, copies = batch.without(group);
  owned_layout const one = layout_of(all, {.dp = 2}), groups(all, {.dp = 3, .ep = 2}, 0, group);
  CHECK(groups.places == one.places);
  CHECK(groups.kept == one.kept);
  CHECK(groups.regions == one.regions);
  REQUIRE(groups.shares.size() == one.shares.size());
  for (std::size_t i = 0; i < one.shares.size(); ++i)
    CHECK(groups.shares[i] == shared_range{one.shares[i].begin, one.shares[i].end, group, 2, copies});
}

/// Parts of the names of parameters that a layer reads as one matrix
std::vector<std::pair<std::string, std::string>> const neighbours{{".q.", ".k."}, {".k.", ".v."}, {".gate.", ".up."}};

/// Numbers of parameters of each declared name that each replica owns.
using counts = std::map<std::string, std::map<int, int>>;

template <class Model>
void check_plan(Model const& model, mesh const& on, bool all) {
  redco::shape::zero const zero{.level = 1, .owner = redco::shape::zero_owner::whole, .owns_all = all};
  auto const placed = redco::shard::placed_parameters(redco::plan_of(model, on));
  auto const program = redco::shard::facts_of(model);
  std::vector<owned_parameter> each, declared;
  for (auto const& p : placed) each.push_back(owned_parameter_of(p.plan.fact, on, p.plan.fact.trained, zero));
  for (auto const& fact : program.parameters) {
    declared.push_back(owned_parameter_of(fact, on, fact.trained, zero));
    declared.back().copies = fact.copies();
  }
  owned_layout const store = layout_of(each, on), plan = layout_of(declared, on);
  CHECK(store.regions == plan.regions);
  CHECK(store.shares == plan.shares);
  CHECK(store.kept == plan.kept);
  counts of_store, of_plan;
  for (std::size_t i = 0; i < placed.size(); ++i)
    ++of_store[std::string(placed[i].plan.fact.name.view())][store.places[i].front().owner];
  for (std::size_t i = 0; i < declared.size(); ++i)
    for (place const& one : plan.places[i])
      of_plan[std::string(program.parameters[i].name.view())][one.owner] +=
          one.owner < 0 ? static_cast<int>(program.parameters[i].copies()) : 1;
  CHECK(of_store == of_plan);
  // Each element has one parameter, and parameters that a layer reads as one matrix are adjacent.
  std::vector<int> uses(static_cast<std::size_t>(store.regions.size()), 0);
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    index[placed[i].name] = i;
    for (std::int64_t k = 0; k < each[i].elements; ++k)
      ++uses[static_cast<std::size_t>(store.places[i].front().offset + k)];
  }
  CHECK(*std::max_element(uses.begin(), uses.end()) == 1);
  for (std::size_t i = 0; i < placed.size(); ++i)
    for (auto const& [first, next] : neighbours) {
      std::size_t const at = placed[i].name.find(first);
      if (at == std::string::npos) continue;
      auto const other = index.find(std::string(placed[i].name).replace(at, first.size(), next));
      if (other == index.end()) continue;
      INFO(placed[i].name);
      CHECK(store.places[other->second].front().offset == store.places[i].front().offset + each[i].elements);
    }
}

TEST_CASE("a plan with one entry per repeated parameter gives each replica as many as the store") {
  redco::gpt2 const gpt2{{.vocab = 23, .context = 16, .width = 12, .heads = 2, .layers = 5}};
  redco::llama const llama{
      {.vocab = 23, .context = 16, .width = 16, .ffn = 20, .heads = 4, .kv_heads = 2, .layers = 3}};
  for (bool const all : {false, true})
    for (mesh const& on : {mesh{.dp = 2}, {.dp = 3, .tp = 2}, {.dp = 7}}) {
      check_plan(gpt2, on, all);
      check_plan(llama, on, all);
    }
}

TEST_CASE("each block has regions of its own, whose matrices have owners that own little of other blocks") {
  std::vector<owned_parameter> all;
  for (std::int64_t const block : {0, 1, 2, 3})
    for (owned_parameter one : {whole(6), whole(2), owned_parameter{plain, 3}}) {
      one.kind.block = block;
      all.push_back(one);
    }
  owned_layout const found = layout_of(all, {.dp = 2});
  // Each block has 12 elements of matrices with padding, and then 4 of others.
  CHECK(found.regions.size() == 4 * 16);
  REQUIRE(found.shares.size() == 8);
  std::int64_t kept[] = {0, 0};
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(found.shares[i].size() == (i % 2 == 0 ? 12 : 4));
    for (std::size_t r = 0; r < 2; ++r) kept[r] += found.kept[i][r];
  }
  for (std::size_t block = 0; block < 4; ++block)
    CHECK(found.places[3 * block].front().owner == static_cast<int>(block) % 2);
  CHECK(kept[0] == 2 * 6 + 2 * 2 + 4 * 2);
  CHECK(kept[1] == 2 * 6 + 2 * 2 + 4 * 1);
}

TEST_CASE("frozen parameters have shares if their values are shared out, and ranges of shares have a wanted size") {
  constexpr region kept_apart{0, 0, false, false, batch, 1};
  std::vector<owned_parameter> const some{whole(4), {decayed, 11}, {kept_apart, 5}};
  owned_layout const found(some, {.dp = 2}, 4);
  CHECK(found.shares == std::vector<shared_range>{{0, 8, batch, 2},
                                                  {8, 12, batch, 2},
                                                  {12, 16, batch, 2},
                                                  {16, 20, batch, 2},
                                                  {20, 24, batch, 2},
                                                  {24, 26, batch, 2}});
  CHECK(found.kept == std::vector<std::vector<std::int64_t>>{{4, 0}, {2, 2}, {2, 2}, {2, 1}, {2, 2}, {1, 0}});
  CHECK((found.regions.trained() == 20 && found.regions.size() == 26));
}

TEST_CASE("hidden matrices belong to replicas; other parameters only if the optimizer needs all whole") {
  redco::gpt2 const model{{.vocab = 23, .context = 16, .width = 12, .heads = 2, .layers = 1}};
  auto const program = redco::shard::facts_of(model);
  for (auto const& fact : program.parameters) {
    redco::shape::zero zero{.level = 1, .owner = redco::shape::zero_owner::whole};
    CHECK(owned_parameter_of(fact, {.dp = 2}, true, zero).is_whole == fact.is_hidden_matrix());
    CHECK_FALSE(owned_parameter_of(fact, {.dp = 2}, false, zero).is_whole);
    zero.owns_all = true;
    CHECK(owned_parameter_of(fact, {.dp = 2}, true, zero).is_whole);
    zero.owner = redco::shape::zero_owner::element;
    CHECK_FALSE(owned_parameter_of(fact, {.dp = 2}, true, zero).is_whole);
  }
}

TEST_CASE("whole matrices are refused without ZeRO") {
  auto const refusal = [](int level) -> std::string {
    try {
      redco::shape::check_zero_owner(redco::shape::zero_owner::whole, level);
    } catch (redco::error const& e) {
      return std::to_string(static_cast<int>(e.code())) + " " + e.what();
    }
    return "accepted";
  };
  for (int const level : {1, 2, 3}) CHECK(refusal(level) == "accepted");
  CHECK(refusal(0).starts_with("64 --zero-owner whole without --zero"));
  redco::shape::check_zero_owner(redco::shape::zero_owner::element, 0);
}

}  // namespace owners_test
