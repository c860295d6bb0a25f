#pragma once

#include <redco/cost/step_time.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <cstdint>

namespace redco::cost {

namespace detail {

/// Of seconds that sums take, those in which backward makes the gradients of weights, half of its products.
inline double saved_beside_weights(double sums, double products, operations const& all, double busy) {
  double const of_weights = products * static_cast<double>(all.backward) / 2 / static_cast<double>(all.total());
  return std::min(sums, of_weights) * (1 - busy);
}

/// Seconds that buckets of equal size save: where all their messages take `sums`, and end no sooner than `backward` does.
inline double saved_by_buckets(double backward, double sums, std::int64_t buckets, double busy) {
  if (buckets == 0) return 0;
  double const n = static_cast<double>(buckets), behind = std::max(sums / n, backward / n + sums - backward);
  return (sums - behind) * (1 - busy);
}

}  // namespace detail

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
  double sums = 0, busy = 1;  // of gradients; inside a host they take the cores that compute
  std::int64_t buckets = 0;
  for (message_total const& one : what.messages) {
    if (one.calls == 0) continue;
    double const before = t.messages;
    // An all-reduce, which was measured, is a reduce-scatter and an all-gather.
    double const calls = static_cast<double>(one.calls) * (one.what == collective::all_reduce ? 1 : 0.5);
    auto const add = [&](auto const& speed_of_group, std::int64_t bytes) {
      t.messages +=
          calls * speed_of_group.seconds_per_call + static_cast<double>(bytes) / speed_of_group.bytes_per_second;
    };
    if (one.here > 1) add(on.group_of(one.here, ranks), one.inside_bytes);
    if (one.hosts > 1) add(on.link_of(one.hosts, run.hosts), one.host_bytes);
    if (&one == &what.messages[messages::backward] && run.overlap_shards && what.operations.total() > 0)
      t.hidden += detail::saved_beside_weights(t.messages - before, t.products, what.operations,
                                               one.hosts > 1 ? on.link_of(one.hosts, run.hosts).busy : 1);
    if (one.purpose != messages::name_of_gradients) continue;
    sums += t.messages - before;
    buckets += one.calls;
    if (one.hosts > 1) busy = on.link_of(one.hosts, run.hosts).busy;
  }
  if (run.gradient_bucket > 0 && what.operations.total() > 0) {
    double const computes = t.products + t.activations + t.weights + t.tensors;
    double const forward = static_cast<double>(what.operations.forward) / static_cast<double>(what.operations.total());
    double const last_backward = computes * (1 - forward) / static_cast<double>(run.micro_batches);
    t.hidden += detail::saved_by_buckets(last_backward, sums, buckets, busy);
  }
  memory const& m = what.memory;
  t.update = all(m.parameters + m.masters + m.gradients + m.optimizer) / on.update_bytes_per_second;
  return t;
}

}  // namespace redco::cost
