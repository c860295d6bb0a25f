#pragma once

#include <redco/schedule/step_op.hpp>

#include <cstdint>
#include <vector>

namespace redco::schedule {

/// What decides the operations of a rank in a step. All members but the first are the same on all
/// ranks.
struct step_facts {
  std::int64_t micro_batches = 1;  ///< of this rank's replica
  std::int64_t rounds = 1;         ///< micro-batches of the replica with the most
  std::int64_t full_rounds = 1;    ///< micro-batches of the replica with the fewest
  std::int64_t regions = 1;        ///< sums of gradients
  bool meets_replicas = false;     ///< layers sum over the replicas within a micro-batch
  bool several_terms = false;      ///< the terms of a loss are divided by their counts before backward
  bool in_one = false;             ///< forward and backward are one operation: a step of the program's own, or a graph

  friend constexpr bool operator==(step_facts const&, step_facts const&) = default;
};

/// Returns the operations of a rank in a step: backward of each micro-batch follows its forward, so
/// that one micro-batch's saved tensors are held at a time.
constexpr std::vector<step_op> step_of(step_facts const& of) {
  std::vector<step_op> all;
  auto const add = [&all](op what, std::int64_t micro) {
    all.push_back({what, static_cast<std::int32_t>(micro), 0, -1, -1});
  };
  for (std::int64_t i = 0; i < of.micro_batches; ++i) {
    if (of.in_one) {
      add(op::compute, i);
    } else {
      add(op::forward, i);
      if (of.several_terms) add(op::total_counts, i);
      add(op::backward, i);
    }
    if (of.meets_replicas && i >= of.full_rounds) add(op::end_round, i);
  }
  if (of.meets_replicas) {
    for (std::int64_t i = of.micro_batches; i < of.rounds; ++i) add(op::sit_out, i);
    if (of.full_rounds < of.rounds) all.push_back({op::share_statistics});
  } else if (of.micro_batches == 0 && of.several_terms) {
    add(op::total_counts, 0);
  }
  for (std::int64_t r = 0; r < of.regions; ++r) all.push_back({op::reduce, -1, -1, -1, static_cast<std::int16_t>(r)});
  all.push_back({op::total});
  all.push_back({op::update});
  return all;
}

}  // namespace redco::schedule
