#include "catch.hpp"

#include "steps.hpp"

#include <redco/schedule/check_step.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace schedule_test {

template <class Change>
constexpr step_fault changed(step_facts const& facts, std::int64_t first, std::int64_t second, Change const& change) {
  step_table all = two_replicas(first, second, facts);
  change(all.of_rank);
  return check_step(all);
}
using lists = std::vector<list>;

constexpr void erase(list& from, op operation) {
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i].operation == operation) {
      from.erase(from.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
}

TEST_CASE("each mistake in the operation lists of a step is found at its position") {
  auto const is = [](step_fault const& found, kind fault, int rank, std::size_t index) {
    CHECK(text_of(found) == text_of(step_fault{fault, rank, index}));
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
  // Replicas that sum two regions in different orders, or one of which does not total its counts.
  is(changed({}, 1, 1, [](lists& l) { std::swap(l[2][2], l[2][3]); }), kind::waits_forever, 0, 2);
  is(changed({.several_terms = true}, 1, 0, [](lists& l) { erase(l[2], op::total_counts); }), kind::waits_forever, 0,
     1);
  is(changed({}, 1, 1, [](lists& l) { erase(l[3], op::total); }), kind::waits_forever, 0, 4);
  // Rounds with gaps: the end of a round must be announced to all ranks that sit it out, or to
  // none.
  step_facts const norm{.meets_replicas = true};
  is(changed(norm, 2, 1, [](lists& l) { erase(l[0], op::end_round); }), kind::waits_forever, 0, 2);
  is(changed(norm, 2, 1, [](lists& l) { erase(l[2], op::sit_out); }), kind::waits_forever, 0, 2);
  is(changed(norm, 2, 2, [](lists& l) { l[0].insert(l[0].begin() + 2, at(op::end_round, 0)); }), kind::waits_forever, 0,
     0);
  is(changed(norm, 2, 1, [](lists& l) { erase(l[1], op::share_statistics); }), kind::waits_forever, 0, 8);
}

TEST_CASE("sends and receives of stages are proved to match") {
  step_table all = stages(2, 2);
  // F forward, B backward, S send, R receive. Stage 0: F0 S0 F1 S1 R0 B0 R1 B1 sum total update.
  // Stage 1: R0 F0 B0 S0 R1 F1 B1 S1 sum total update.
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
        // Each rank waits for a message that the other sends later
        "operation 0 of rank 0 waits forever");
  all = stages(2, 2);
  all.of_rank[1][3].micro = 1;  // the gradient of another micro-batch
  CHECK(text_of(check_step(all)) == "operation 4 of rank 0 waits forever");
}

TEST_CASE("stages whose replicas keep shares exchange gradients before the sums, and reach the end of the step") {
  step_facts facts{.micro_batches = 2, .rounds = 2, .full_rounds = 2, .regions = 2, .stages = 2};
  list const after = step_of(facts);
  facts.exchanges_first = true;
  list const before = step_of(facts);
  auto const ends_with = [](list const& all, list const& last) {
    return std::equal(last.rbegin(), last.rend(), all.rbegin());
  };
  step_op const exchange{op::exchange_shared};
  CHECK(ends_with(after, {sum(0), sum(1), exchange, {op::total}, {op::update}}));
  CHECK(ends_with(before, {exchange, sum(0), sum(1), {op::total}, {op::update}}));
  step_table all{{.pp = 2, .dp = 2}, {redco::shape::batch_axes, redco::shape::axis::dp}, false, {}};
  for (int const stage : {0, 0, 1, 1}) {
    facts.stage = stage;
    all.of_rank.push_back(step_of(facts));
  }
  CHECK(text_of(check_step(all)) == "the step is sound");
  facts.stages = 1;
  CHECK(step_of(facts).size() == 4 + 2 + 2);
}

TEST_CASE("replicas that keep shares of gradients sum each round, also without a micro-batch left") {
  step_facts const each{.sums_rounds = true};
  step_table const all = two_replicas(2, 1, each);
  auto const sum_of = [](std::int32_t round, std::int16_t region) {
    return step_op{op::reduce, round, -1, -1, region};
  };
  CHECK(all.of_rank[0] == list{at(op::forward, 0),
                               at(op::backward, 0),
                               sum_of(0, 0),
                               sum_of(0, 1),
                               at(op::forward, 1),
                               at(op::backward, 1),
                               sum_of(1, 0),
                               sum_of(1, 1),
                               {op::total},
                               {op::update}});
  CHECK(all.of_rank[2] == list{at(op::forward, 0),
                               at(op::backward, 0),
                               sum_of(0, 0),
                               sum_of(0, 1),
                               sum_of(1, 0),
                               sum_of(1, 1),
                               {op::total},
                               {op::update}});
  CHECK(text_of(check_step(all)) == "the step is sound");
  CHECK(text_of(check_step(two_replicas(1, 0, each))) == "the step is sound");
  CHECK(changed(each, 2, 1, [](lists& l) { l[2].erase(l[2].begin() + 4); }).cause == kind::not_reduced);
  CHECK(changed(each, 2, 1, [](lists& l) {
          std::swap_ranges(l[2].begin() + 2, l[2].begin() + 4, l[2].begin() + 4);
        }).cause == kind::waits_forever);
  CHECK(changed(each, 2, 1, [](lists& l) { l[2].erase(l[2].begin() + 4, l[2].begin() + 6); }).cause ==
        kind::waits_forever);
}

TEST_CASE("a rank without a micro-batch joins each exchange of experts' rows, in the order of the others") {
  for (step_facts const& facts :
       {step_facts{.sums_rounds = true}, step_facts{.sums_rounds = true, .gathers_values = true},
        step_facts{.stages = 2}, step_facts{.stages = 4, .schedule = pipeline_kind::gpipe},
        step_facts{.stages = 2, .schedule = pipeline_kind::interleaved, .chunks_per_stage = 2}})
    for (std::int64_t const second : {0, 1, 3, 4}) {
      step_table const all = ranks_with_experts(4, second, facts);
      CHECK(text_of(check_step(all)) == "the step is sound");
      if (second == 4) continue;
      // The rank with fewer micro-batches misses an exchange, or takes part in two of them in the
      // wrong order.
      step_table missing = all, swapped = all;
      auto const is_joint = [](step_op const& one) {
        return one.operation == op::join_forward || one.operation == op::join_backward;
      };
      lists& of = missing.of_rank;
      auto const joint = std::find_if(of[1].begin(), of[1].end(), is_joint);
      of[1].erase(joint);
      CHECK(check_step(missing).cause == kind::waits_forever);
      list& other = swapped.of_rank[1];
      auto const first = std::find_if(other.begin(), other.end(), is_joint),
                 next = std::find_if(first + 1, other.end(), is_joint);
      std::swap(*first, *next);
      CHECK(check_step(swapped).cause == kind::waits_forever);
    }
}

TEST_CASE("a rank without a loss joins the experts of a step of the program's own before it sums counts") {
  step_facts facts{.exchanges_rows = true, .several_terms = true, .in_one = true};
  step_table all{{.ep = 2}, {redco::shape::batch_axes}, false, {}};
  for (facts.micro_batches = 1; facts.micro_batches >= 0; --facts.micro_batches) all.of_rank.push_back(step_of(facts));
  CHECK(all.of_rank[0] == tail({at(op::compute, 0), {op::join_calls}, at(op::total_counts, 0)}));
  CHECK(all.of_rank[1] == tail({{op::join_calls}, at(op::total_counts, 0)}));
  CHECK(text_of(check_step(all)) == "the step is sound");
}

TEST_CASE("replicas gather values in one order, whatever number of micro-batches each of them has") {
  step_facts const each{.sums_rounds = true, .gathers_values = true};
  step_table all = two_replicas(2, 1, each);
  auto const sum_of = [](std::int32_t round, std::int16_t region) {
    return step_op{op::reduce, round, -1, -1, region};
  };
  CHECK(all.of_rank[2] == list{at(op::gather_forward, 0),
                               at(op::forward, 0),
                               at(op::gather_backward, 0),
                               at(op::backward, 0),
                               sum_of(0, 0),
                               sum_of(0, 1),
                               at(op::gather_forward, 1),
                               at(op::gather_backward, 1),
                               sum_of(1, 0),
                               sum_of(1, 1),
                               {op::total},
                               {op::update}});
  CHECK(text_of(check_step(all)) == "the step is sound");
  CHECK(changed(each, 2, 1, [](lists& l) { erase(l[2], op::gather_backward); }).cause == kind::waits_forever);
  // Stages of two replicas with three and two micro-batches, in each schedule.
  for (auto const& [schedule, chunks] : std::vector<std::pair<pipeline_kind, int>>{
           {pipeline_kind::one_f_one_b, 1}, {pipeline_kind::gpipe, 1}, {pipeline_kind::interleaved, 2}})
    for (std::int64_t const fewer : {2, 1, 0}) {
      step_facts facts{.rounds = 4,
                       .full_rounds = fewer,
                       .exchanges_first = true,
                       .gathers_values = true,
                       .stages = 2,
                       .schedule = schedule,
                       .chunks_per_stage = chunks};
      all = {{.pp = 2, .dp = 2}, {redco::shape::batch_axes}, false, {}};
      for (int const stage : {0, 1})
        for (std::int64_t const own : {std::int64_t{4}, fewer}) {
          facts.stage = stage;
          facts.micro_batches = own;
          all.of_rank.push_back(step_of(facts));
        }
      CHECK(text_of(check_step(all)) == "the step is sound");
      auto const gathers = [](list const& of) {
        return std::count_if(of.begin(), of.end(), [](step_op const& one) {
          return one.operation == op::gather_forward || one.operation == op::gather_backward;
        });
      };
      CHECK(gathers(all.of_rank[0]) == 8 * chunks);
      CHECK(gathers(all.of_rank[1]) == 8 * chunks);
      CHECK(std::ssize(all.of_rank[0]) - std::ssize(all.of_rank[1]) == (4 - fewer) * (chunks == 1 ? 4 : 10));
    }
}

TEST_CASE("a table of eight stages and 32 micro-batches is proved at run time") {
  CHECK_FALSE(check_step(stages(8, 32)));
  step_table all = stages(8, 32, 2);
  erase(all.of_rank[9], op::receive);
  CHECK(check_step(all).cause == kind::never_received);
}

}  // namespace schedule_test
