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
