#pragma once

#include <redco/schedule/check_step.hpp>
#include <redco/schedule/step_of.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace schedule_test {

using namespace redco::schedule;
using list = std::vector<step_op>;
using kind = step_fault::kind;

constexpr step_op at(op operation, std::int32_t micro = -1, std::int16_t chunk = 0) {
  return {operation, micro, chunk, -1, -1};
}
constexpr step_op sum(std::int16_t region) { return {op::reduce, -1, -1, -1, region}; }

constexpr list tail(list first, std::int16_t regions = 1) {
  for (std::int16_t r = 0; r < regions; ++r) first.push_back(sum(r));
  first.push_back({op::total});
  first.push_back({op::update});
  return first;
}

/// Returns the lists of two replicas of two shards each, with these numbers of micro-batches.
constexpr step_table two_replicas(std::int64_t first, std::int64_t second, step_facts facts) {
  step_table all{{.dp = 2, .tp = 2}, {redco::shape::batch_axes, redco::shape::axis::dp}, facts.meets_replicas, {}};
  facts.regions = 2;
  facts.rounds = std::max(first, second);
  facts.full_rounds = std::min(first, second);
  for (std::int64_t const own : {first, first, second, second}) {
    facts.micro_batches = own;
    all.of_rank.push_back(step_of(facts));
  }
  return all;
}

/// Returns the lists of two ranks along ep on each pipeline stage, which exchange rows of experts
/// and have these numbers of micro-batches.
constexpr step_table ranks_with_experts(std::int64_t first, std::int64_t second, step_facts facts) {
  step_table all{{.pp = facts.stages, .ep = 2}, {redco::shape::batch_axes}, false, {}, true};
  facts.exchanges_rows = true;
  facts.rounds = std::max(first, second);
  facts.full_rounds = std::min(first, second);
  for (facts.stage = 0; facts.stage < facts.stages; ++facts.stage)
    for (std::int64_t const own : {first, second}) {
      facts.micro_batches = own;
      all.of_rank.push_back(step_of(facts));
    }
  return all;
}

/// Returns the list of a stage under one-forward-one-backward: stage `s` of `p` runs p - s - 1
/// forwards before its first backward.
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
  step_table all{{.pp = p, .tp = tp}, {redco::shape::batch_axes}, false, {}};
  for (std::int16_t s = 0; s < p; ++s)
    for (int t = 0; t < tp; ++t) all.of_rank.push_back(one_forward_one_backward(s, p, m));
  return all;
}

}  // namespace schedule_test
