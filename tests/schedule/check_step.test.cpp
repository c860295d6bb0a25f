#include "catch.hpp"

#include <redco/schedule/check_step.hpp>
#include <redco/schedule/step_of.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace schedule_test {

using namespace redco::schedule;
using list = std::vector<step_op>;
using kind = step_fault::kind;

constexpr step_op at(op what, std::int32_t micro = -1, std::int16_t chunk = 0) { return {what, micro, chunk, -1, -1}; }
constexpr step_op sum(std::int16_t region) { return {op::reduce, -1, -1, -1, region}; }

constexpr list tail(list first, std::int16_t regions = 1) {
  for (std::int16_t r = 0; r < regions; ++r) first.push_back(sum(r));
  first.push_back({op::total});
  first.push_back({op::update});
  return first;
}

// The operations that training needs, written by hand.
static_assert(step_of({}) == tail({at(op::forward, 0), at(op::backward, 0)}));
static_assert(step_of({.micro_batches = 2, .rounds = 3, .full_rounds = 2, .regions = 2}) ==
              tail({at(op::forward, 0), at(op::backward, 0), at(op::forward, 1), at(op::backward, 1)}, 2));
static_assert(step_of({.micro_batches = 0, .full_rounds = 0}) == tail({}));
static_assert(step_of({.several_terms = true}) ==
              tail({at(op::forward, 0), at(op::total_counts, 0), at(op::backward, 0)}));
static_assert(step_of({.micro_batches = 0, .full_rounds = 0, .several_terms = true}) ==
              tail({at(op::total_counts, 0)}));
static_assert(step_of({.micro_batches = 2, .rounds = 2, .full_rounds = 2, .in_one = true}) ==
              tail({at(op::compute, 0), at(op::compute, 1)}));
static_assert(step_of({.micro_batches = 2, .rounds = 2, .full_rounds = 1, .meets_replicas = true}) ==
              tail({at(op::forward, 0),
                    at(op::backward, 0),
                    at(op::forward, 1),
                    at(op::backward, 1),
                    at(op::end_round, 1),
                    {op::share_statistics}}));
static_assert(step_of({.micro_batches = 1, .rounds = 2, .full_rounds = 1, .meets_replicas = true}) ==
              tail({at(op::forward, 0), at(op::backward, 0), at(op::sit_out, 1), {op::share_statistics}}));
static_assert(step_of({.rounds = 1, .full_rounds = 1, .meets_replicas = true}) ==
              tail({at(op::forward, 0), at(op::backward, 0)}));

/// The lists of two replicas with so many micro-batches, each of two shards.
constexpr step_table two_replicas(std::int64_t first, std::int64_t second, step_facts facts) {
  step_table all{{.dp = 2, .tp = 2}, {redco::batch_axes, redco::axis::dp}, facts.meets_replicas, {}};
  facts.regions = 2;
  facts.rounds = std::max(first, second);
  facts.full_rounds = std::min(first, second);
  for (std::int64_t const own : {first, first, second, second}) {
    facts.micro_batches = own;
    all.of_rank.push_back(step_of(facts));
  }
  return all;
}

constexpr bool sound(step_facts const& facts, std::int64_t most) {
  for (std::int64_t a = 1; a <= most; ++a)
    for (std::int64_t b = 0; b <= a; ++b)
      if (check_step(two_replicas(a, b, facts))) return false;
  return true;
}
static_assert(sound({}, 3));
static_assert(sound({.meets_replicas = true}, 3));
static_assert(sound({.several_terms = true}, 1));
static_assert(sound({.meets_replicas = true, .several_terms = true}, 1));
static_assert(sound({.in_one = true}, 3));
static_assert(sound({.meets_replicas = true, .in_one = true}, 3));

template <class Change>
constexpr step_fault changed(step_facts const& facts, std::int64_t first, std::int64_t second, Change const& change) {
  step_table all = two_replicas(first, second, facts);
  change(all.of_rank);
  return check_step(all);
}
using lists = std::vector<list>;

constexpr void erase(list& from, op what) {
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i].what == what) {
      from.erase(from.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
}

TEST_CASE("each mistake in the lists of a step is found where it is") {
  auto const is = [](step_fault const& found, kind what, int rank, std::size_t place) {
    CHECK(text_of(found) == text_of(step_fault{what, rank, place}));
  };
  is(changed({}, 2, 1, [](lists&) {}), kind::none, -1, 0);
  is(changed({}, 2, 1, [](lists& l) { erase(l[1], op::backward); }), kind::no_backward, 1, 0);
  is(changed({}, 2, 1, [](lists& l) { std::swap(l[2][0], l[2][1]); }), kind::no_forward, 2, 0);
  is(changed({}, 2, 1, [](lists& l) { l[0][2].micro = 0; }), kind::repeated, 0, 2);
  is(changed({}, 1, 1, [](lists& l) { erase(l[3], op::reduce); }), kind::not_reduced, 3, 4);
  is(changed({}, 1, 1, [](lists& l) { l[3][3] = sum(0); }), kind::repeated, 3, 3);
  is(changed({}, 1, 1, [](lists& l) { erase(l[2], op::update); }), kind::not_updated, 2, 5);
  is(changed({}, 1, 1, [](lists& l) { std::swap(l[2][4], l[2][5]); }), kind::not_updated, 2, 5);
  is(changed({}, 1, 1, [](lists& l) { l[2].clear(); }), kind::not_updated, 2, 0);
  // Replicas that sum two regions in different orders, or of which one does not count.
  is(changed({}, 1, 1, [](lists& l) { std::swap(l[2][2], l[2][3]); }), kind::waits_forever, 0, 2);
  is(changed({.several_terms = true}, 1, 0, [](lists& l) { erase(l[2], op::total_counts); }), kind::waits_forever, 0,
     1);
  is(changed({}, 1, 1, [](lists& l) { erase(l[3], op::total); }), kind::waits_forever, 0, 4);
  // Rounds with gaps: the end of a round is told to all who sit it out, or to nobody.
  step_facts const norm{.meets_replicas = true};
  is(changed(norm, 2, 1, [](lists& l) { erase(l[0], op::end_round); }), kind::waits_forever, 0, 2);
  is(changed(norm, 2, 1, [](lists& l) { erase(l[2], op::sit_out); }), kind::waits_forever, 0, 2);
  is(changed(norm, 2, 2, [](lists& l) { l[0].insert(l[0].begin() + 2, at(op::end_round, 0)); }), kind::waits_forever, 0,
     0);
  is(changed(norm, 2, 1, [](lists& l) { erase(l[1], op::share_statistics); }), kind::waits_forever, 0, 8);
}

/// One forward, one backward: stage `s` of `p` runs p - s - 1 forwards before its first backward.
constexpr list one_forward_one_backward(std::int16_t s, std::int16_t p, std::int32_t m) {
  list all;
  auto const forward = [&](std::int32_t i) {
    if (s > 0) all.push_back({op::receive, i, s, static_cast<std::int16_t>(s - 1), -1});
    all.push_back(at(op::forward, i, s));
    if (s + 1 < p) all.push_back({op::send, i, s, static_cast<std::int16_t>(s + 1), -1});
  };
  auto const backward = [&](std::int32_t i) {
    if (s + 1 < p) all.push_back({op::receive, i, s, static_cast<std::int16_t>(s + 1), -1});
    all.push_back(at(op::backward, i, s));
    if (s > 0) all.push_back({op::send, i, s, static_cast<std::int16_t>(s - 1), -1});
  };
  std::int32_t const ahead = std::min<std::int32_t>(m, p - s - 1);
  for (std::int32_t i = 0; i < ahead; ++i) forward(i);
  for (std::int32_t i = 0; i < m; ++i) {
    if (i + ahead < m) forward(i + ahead);
    backward(i);
  }
  return tail(all);
}

constexpr step_table stages(std::int16_t p, std::int32_t m, int tp = 1) {
  step_table all{{.pp = p, .tp = tp}, {redco::batch_axes}, false, {}};
  for (std::int16_t s = 0; s < p; ++s)
    for (int t = 0; t < tp; ++t) all.of_rank.push_back(one_forward_one_backward(s, p, m));
  return all;
}
static_assert(!check_step(stages(2, 3)));
static_assert(!check_step(stages(3, 2, 2)));
static_assert(!check_step(stages(4, 6)));

TEST_CASE("sends and receives of stages are proved to meet") {
  step_table all = stages(2, 2);
  // Stage 0: F0 S0 F1 S1 R0 B0 R1 B1 sum total update; stage 1: R0 F0 B0 S0 R1 F1 B1 S1 sum total update.
  CHECK(all.of_rank[0].size() == 11);
  CHECK(text_of(check_step(all)) == "the step is sound");
  all.of_rank[1].erase(all.of_rank[1].begin() + 3);
  CHECK(text_of(check_step(all)) == "operation 4 of rank 0 waits forever");
  all = stages(2, 2);
  all.of_rank[0].erase(all.of_rank[0].begin() + 4);
  CHECK(text_of(check_step(all)) == "operation 3 of rank 1 is sent and never received");
  all = stages(2, 2);
  std::rotate(all.of_rank[0].begin(), all.of_rank[0].begin() + 4, all.of_rank[0].begin() + 5);
  CHECK(text_of(check_step(all)) ==
        "operation 0 of rank 0 waits forever");  // each waits for what the other sends later
  all = stages(2, 2);
  all.of_rank[1][3].micro = 1;  // the gradient of another micro-batch
  CHECK(text_of(check_step(all)) == "operation 4 of rank 0 waits forever");
}

TEST_CASE("a table of eight stages and 32 micro-batches is proved at run time") {
  CHECK_FALSE(check_step(stages(8, 32)));
  step_table all = stages(8, 32, 2);
  erase(all.of_rank[9], op::receive);
  CHECK(check_step(all).what == kind::never_received);
}

}  // namespace schedule_test
