#include "../schedule/steps.hpp"

namespace {

using namespace schedule_test;

// The operations of training steps, written by hand.
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

// A replica without micro-batches left joins all calls of experts at the end of a step, or each
// micro-batch if other messages pass between the calls.
constexpr step_op sum_of_round(std::int32_t round) { return {op::reduce, round, -1, -1, 0}; }
static_assert(step_of({.micro_batches = 1, .rounds = 2, .full_rounds = 1, .exchanges_rows = true}) ==
              tail({at(op::forward, 0), at(op::backward, 0), {op::join_calls}}));
static_assert(step_of({.micro_batches = 0, .full_rounds = 0, .exchanges_rows = true, .several_terms = true}) ==
              tail({at(op::join_forward, 0), at(op::total_counts, 0), at(op::join_backward, 0)}));
static_assert(step_of({.micro_batches = 1,
                       .rounds = 2,
                       .full_rounds = 1,
                       .exchanges_rows = true,
                       .sums_rounds = true,
                       .gathers_values = true}) == list{at(op::gather_forward, 0),
                                                        at(op::forward, 0),
                                                        at(op::gather_backward, 0),
                                                        at(op::backward, 0),
                                                        sum_of_round(0),
                                                        at(op::gather_forward, 1),
                                                        at(op::join_forward, 1),
                                                        at(op::gather_backward, 1),
                                                        at(op::join_backward, 1),
                                                        sum_of_round(1),
                                                        {op::total},
                                                        {op::update}});
static_assert(
    step_of({.micro_batches = 1, .rounds = 2, .full_rounds = 1, .exchanges_rows = true, .stages = 2, .stage = 1}) ==
    list{{op::receive, 0, 1, 0, -1},
         at(op::forward, 0, 1),
         at(op::backward, 0, 1),
         {op::send, 0, 1, 0, -1},
         at(op::join_forward, 1, 1),
         at(op::join_backward, 1, 1),
         sum(0),
         {op::exchange_shared},
         {op::total},
         {op::update}});

constexpr bool sound_with_experts(step_facts const& facts, std::int64_t most) {
  for (std::int64_t a = 1; a <= most; ++a)
    for (std::int64_t b = 0; b <= a; ++b)
      if (check_step(ranks_with_experts(a, b, facts))) return false;
  return true;
}
static_assert(sound_with_experts({.sums_rounds = true}, 3));
static_assert(sound_with_experts({.sums_rounds = true, .gathers_values = true}, 3));
static_assert(sound_with_experts({.several_terms = true}, 1));
static_assert(sound_with_experts({.stages = 2}, 2));
static_assert(sound_with_experts({.exchanges_first = true, .gathers_values = true, .stages = 2}, 2));
static_assert(sound_with_experts({.stages = 2, .schedule = pipeline_kind::gpipe}, 2));

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

static_assert(!check_step(stages(2, 3)));
static_assert(!check_step(stages(3, 2, 2)));
static_assert(!check_step(stages(4, 6)));

}  // namespace
