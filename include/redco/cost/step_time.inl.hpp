#pragma once

#include <redco/cost/step_time.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <cstdint>

namespace redco::cost {

REDCO_INLINE step_time step_time_of(rank_cost const& what, setup const& run, machine const& on) {
  // Hosts that share a machine's cores are counted together.
  int const machines = run.hosts > 1 ? std::max(1, run.hosts / on.link_of(run.hosts, run.hosts).hosts_of_machine) : 1;
  int const ranks = run.mesh.ranks() / machines;
  auto const all = [&](std::int64_t of_one) { return static_cast<double>(of_one) * ranks; };
  compute_speed const& speed = on.speed_of(run.compute, ranks);
  step_time t;
  t.products = static_cast<double>(what.operations.total()) * run.mesh.size(example_axes) / machines /
               speed.operations_per_second;
  t.activations = all(what.activity.bytes) / speed.activation_bytes_per_second;
  t.weights = all(what.activity.weight_bytes) / speed.weight_bytes_per_second;
  t.tensors = static_cast<double>(what.activity.tensors) * speed.seconds_per_tensor;
  for (message_total const& one : what.messages) {
    if (one.calls == 0) continue;
    // An all-reduce, which was measured, is a reduce-scatter and an all-gather.
    double const calls = static_cast<double>(one.calls) * (one.what == collective::all_reduce ? 1 : 0.5);
    auto const add = [&](auto const& speed_of_group, std::int64_t bytes) {
      t.messages +=
          calls * speed_of_group.seconds_per_call + static_cast<double>(bytes) / speed_of_group.bytes_per_second;
    };
    if (one.here > 1) add(on.group_of(one.here, ranks), one.inside_bytes);
    if (one.hosts > 1) add(on.link_of(one.hosts, run.hosts), one.host_bytes);
  }
  memory const& m = what.memory;
  t.update = all(m.parameters + m.masters + m.gradients + m.optimizer) / on.update_bytes_per_second;
  return t;
}

}  // namespace redco::cost
