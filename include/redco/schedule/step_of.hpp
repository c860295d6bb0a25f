#pragma once

#include <redco/schedule/step_op.hpp>

#include <cstdint>
#include <vector>

namespace redco::schedule {

/// A set of numbers and flags from which step_of() computes the operations of a rank in an
/// optimizer step. All members except `micro_batches` are equal on all ranks.
struct step_facts {
  std::int64_t micro_batches = 1;  ///< Number of micro-batches that this rank's replica computes
  std::int64_t rounds = 1;         ///< Largest number of micro-batches of any replica in the step
  std::int64_t full_rounds = 1;    ///< Smallest number of micro-batches of any replica in the step
  std::int64_t regions = 1;        ///< Number of gradient sums (`reduce` operations) of the step
  /// True if layers communicate between replicas within a micro-batch, as batch norm does.
  bool meets_replicas = false;
  /// True if the loss has several terms. Each term is divided by its count over all replicas before
  /// backward.
  bool several_terms = false;
  /// True if forward and backward of a micro-batch cannot be separated, because the user wrote the
  /// step or the step is a recorded CUDA graph.
  bool in_one = false;

  friend constexpr bool operator==(step_facts const&, step_facts const&) = default;
};

/// Returns the operations of a rank in an optimizer step, in order. The backward of each
/// micro-batch follows its forward directly, so that saved tensors of only one micro-batch are in
/// memory.
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
