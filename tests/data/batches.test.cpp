#include "catch.hpp"

#include <redco/data/batches.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

namespace {

using number = std::int64_t;

struct batch_case {
  number size, global_batch, micro_batch;
  int dp;
};

// Checks all properties of one epoch over all shards, for these sizes.
void check_epoch_laws(batch_case const& c, number from) {
  CAPTURE(c.size, c.global_batch, c.micro_batch, c.dp, from);
  redco::data::sampler const order(c.size, 11);
  std::vector<number> const expected_order = order.order(3);
  std::vector<number> seen;
  number steps = 0;
  for (int dp_index = 0; dp_index < c.dp; ++dp_index) {
    redco::data::batches const mine(order, {c.global_batch, c.micro_batch, c.dp, dp_index}, {3, from});
    if (dp_index == 0) steps = mine.steps();
    REQUIRE(mine.steps() == steps);
    REQUIRE(steps == (c.size - from + c.global_batch - 1) / c.global_batch);
    number i = 0;
    for (number k = 0; k < steps; ++k) {
      redco::data::batch_step const step = mine.step(k);
      REQUIRE(step.micro_batches <= step.rounds);
      if (dp_index == 0) REQUIRE(step.micro_batches == step.rounds);
      number at = step.local.begin;
      for (number m = 0; m < step.micro_batches; ++m, ++i) {
        redco::data::micro_batch const batch = mine[i];
        REQUIRE(batch.step == k);
        REQUIRE(batch.index == m);
        REQUIRE(batch.first_example == at - step.global.begin);
        REQUIRE(!batch.examples.empty());
        REQUIRE((c.micro_batch == 0 || static_cast<number>(batch.examples.size()) <= c.micro_batch));
        for (number const example : batch.examples) {
          REQUIRE(example == expected_order[static_cast<std::size_t>(at++)]);
          seen.push_back(example);
        }
      }
      REQUIRE(at == step.local.end);
      bool const last = k == steps - 1;
      REQUIRE(step.global.size() == (last ? c.size - from - k * c.global_batch : c.global_batch));
      REQUIRE(step.next == (last ? redco::data::data_position{4, 0} : redco::data::data_position{3, step.global.end}));
    }
    REQUIRE(i == mine.size());
  }
  std::sort(seen.begin(), seen.end());
  std::vector<number> expected(expected_order.begin() + from, expected_order.end());
  std::sort(expected.begin(), expected.end());
  REQUIRE(seen == expected);
}

}  // namespace

TEST_CASE("every example of an epoch is used exactly once for all sizes") {
  for (number const size : {1, 2, 7, 16, 33})
    for (number const global_batch : {1, 3, 5, 16, 40})
      for (int const dp : {1, 2, 3, 5})
        for (number const micro_batch : {0, 1, 2, 4, 100})
          if (dp <= global_batch)
            for (number const from : {number{0}, number{3}, size - 1})
              if (from < size) check_epoch_laws({size, global_batch, micro_batch, dp}, from);
}

TEST_CASE("a shard without examples in the last batch still takes part in the step") {
  redco::data::sampler const order(9, 1);
  redco::data::batches const last(order, {.global_batch = 8, .dp = 4, .dp_index = 3});
  REQUIRE(last.steps() == 2);
  REQUIRE(last.size() == 1);
  REQUIRE(last.step(1).local.empty());
  REQUIRE(last.step(1).micro_batches == 0);
  REQUIRE(last.step(1).rounds == 1);
  REQUIRE(last.step(1).global.size() == 1);
}

TEST_CASE("resuming at a saved position continues the interrupted epoch") {
  redco::data::sampler const order(23, 5);
  redco::data::batches const whole(order, {.global_batch = 4, .micro_batch = 3, .dp = 2, .dp_index = 1}, {2, 0});
  redco::data::batches const rest(order, {.global_batch = 4, .micro_batch = 3, .dp = 2, .dp_index = 1},
                                  whole.step(1).next);
  number const done = whole.size() - rest.size();
  REQUIRE(done == whole.step(0).micro_batches + whole.step(1).micro_batches);
  for (number i = 0; i < rest.size(); ++i) REQUIRE(rest[i].examples == whole[i + done].examples);
}

TEST_CASE("impossible divisions and positions are refused with their exit codes") {
  redco::data::sampler const order(10, 5);
  auto const code = [&](redco::data::batch_options const& options, redco::data::data_position from) {
    try {
      redco::data::batches const refused(order, options, from);
    } catch (redco::error const& e) {
      return e.code();
    }
    return redco::exit_code::done;
  };
  REQUIRE(code({.global_batch = 2, .dp = 3}, {}) == redco::exit_code::usage);
  REQUIRE(code({.global_batch = 3, .dp = 3, .dp_index = 3}, {}) == redco::exit_code::usage);
  REQUIRE(code({.global_batch = 3, .micro_batch = -1}, {}) == redco::exit_code::usage);
  REQUIRE(code({.global_batch = 3}, {0, 10}) == redco::exit_code::data);
  REQUIRE(code({.global_batch = 3}, {0, 9}) == redco::exit_code::done);
}

TEST_CASE("shards are contiguous, cover the whole and differ by at most one") {
  for (std::int64_t size = 0; size < 40; ++size)
    for (std::int64_t parts = 1; parts < 9; ++parts) {
      std::int64_t end = 17;
      for (std::int64_t i = 0; i < parts; ++i) {
        redco::data::interval const part = redco::data::shard_of({17, 17 + size}, parts, i);
        REQUIRE(part.begin == end);
        REQUIRE(part.size() >= size / parts);
        REQUIRE(part.size() <= (size + parts - 1) / parts);
        if (i > 0) REQUIRE(part.size() <= redco::data::shard_of({17, 17 + size}, parts, i - 1).size());
        end = part.end;
      }
      REQUIRE(end == 17 + size);
    }
}
