#pragma once

#include <redco/cost/step_time.hpp>

#include <redco/config.hpp>

#include <cstdint>

namespace redco::cost {

REDCO_INLINE step_time step_time_of(rank_cost const& what, setup const& run, machine const& on) {
  int const ranks = run.mesh.ranks();
  auto const all = [&](std::int64_t of_one) { return static_cast<double>(of_one) * ranks; };
  compute_speed const& speed = on.speed_of(run.compute, ranks);
  step_time t;
  t.products = static_cast<double>(what.operations.total()) * run.mesh.size(example_axes) / speed.operations_per_second;
  t.activations = all(what.activity.bytes) / speed.activation_bytes_per_second;
  t.weights = all(what.activity.weight_bytes) / speed.weight_bytes_per_second;
  t.tensors = static_cast<double>(what.activity.tensors) * speed.seconds_per_tensor;
  for (message_total const& one : what.messages) {
    if (one.calls == 0) continue;
    group_speed const& group = on.group_of(one.ranks, ranks);
    // An all-reduce, which was measured, is a reduce-scatter and an all-gather.
    double const calls = static_cast<double>(one.calls) * (one.what == collective::all_reduce ? 1 : 0.5);
    t.messages += calls * group.seconds_per_call + static_cast<double>(one.wire_bytes) / group.bytes_per_second;
  }
  memory const& m = what.memory;
  t.update = all(m.parameters + m.masters + m.gradients + m.optimizer) / on.update_bytes_per_second;
  return t;
}

}  // namespace redco::cost
