#pragma once

#include <redco/cost/step_time.hpp>

#include <redco/cost/messages.hpp>
#include <redco/cost/operations.hpp>
#include <redco/shape/pieces.hpp>
#include <redco/shape/zero.hpp>
#include <redco/config.hpp>
#include <redco/schedule/pipeline_table.hpp>
#include <redco/schedule/pipeline_time.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace redco::cost::detail {

/// Returns the number of machines of a run. Hosts that share a machine's cores count as one
/// machine.
inline int machines_of(setup const& run, machine const& on) {
  return run.hosts > 1 ? std::max(1, run.hosts / on.link_of(run.hosts, run.hosts).hosts_of_machine) : 1;
}

/// The messages of one purpose in one step, which can be in flight while their rank computes. Holds
/// their total seconds, calls and bytes.
struct concurrent_messages {
  double seconds = 0;
  std::int64_t calls = 0, bytes = 0;
  /// Fraction of the cores that work on the messages; 1 inside a host, where the computing cores
  /// also copy the messages.
  double busy = 1;

  /// Returns the seconds that a step saves if the messages overlap with matrix products that take
  /// `products` seconds.
  double saved_by_overlap(double products) const { return std::min(seconds, products) * (1 - busy); }

  /// Returns the seconds that a step saves if gradients are summed in equal buckets during
  /// backward, which takes `backward` seconds. The sum of the last bucket can start only at the end
  /// of backward.
  double saved_in_buckets(double backward) const {
    if (calls == 0) return 0;
    double const n = static_cast<double>(calls), exposed = std::max(seconds / n, backward / n + seconds - backward);
    return (seconds - exposed) * (1 - busy);
  }
};

/// Returns the seconds that a step saves if messages between shards overlap with matrix products.
/// `of_purpose[purpose]`: messages of one purpose; `made`: operations of the step. A product is
/// computed in several chunks, one of which has no message to overlap with.
inline double saved_by_shards(std::array<concurrent_messages, messages::purposes> const& of_purpose,
                              operations const& made, double seconds_per_operation) {
  auto const seconds = [&](std::int64_t all) { return static_cast<double>(all) * seconds_per_operation; };
  double const again = made.forward > 0 ? static_cast<double>(made.again) / static_cast<double>(made.forward) : 0;
  double const columns = seconds(made.columns), rows = seconds(made.rows);
  // `tail`: seconds of products with which the last run overlaps too.
  auto const saved = [&](messages::purpose purpose, double products, double tail = 0) {
    concurrent_messages const& sent = of_purpose[purpose];
    std::int64_t const runs = sent.calls == 0 ? 0
                                              : std::min(sent.bytes / sent.calls / shape::product_runs::min_bytes,
                                                         shape::product_runs::max_runs);
    if (runs == 0) return 0.0;
    double const all_but_one = 1 - 1 / static_cast<double>(runs);
    return tail > 0 ? sent.saved_by_overlap(products * all_but_one + tail)
                    : sent.saved_by_overlap(products) * all_but_one;
  };
  return saved(messages::forward, rows * (1 + again)) + saved(messages::forward_scatter, rows * (1 + again)) +
         saved(messages::forward_gather, columns * (1 + again)) + saved(messages::backward_gather, rows) +
         saved(messages::backward, columns, columns) + saved(messages::backward_scatter, columns, columns);
}

/// Returns the seconds that a step saves if sums of gradients overlap with each backward, and
/// gathers of values with computation (ZeRO from level 2 on). `computes`: seconds of the step's
/// computation, of which the fraction `backward` is backward.
inline double saved_by_shares(concurrent_messages sums, concurrent_messages gathers, memory const& held,
                              setup const& run, double computes, double backward) {
  shape::zero const zero = run.zero.on(run.mesh);
  double const rounds = static_cast<double>(run.micro_batches);
  sums.seconds /= rounds;
  sums.calls /= run.micro_batches;
  double const saved = zero.sums_in_backward() ? rounds * sums.saved_in_buckets(computes * backward / rounds) : 0;
  if (gathers.bytes == 0 || !zero.shares_values()) return saved;
  // Nothing is computed during a step's first gathers: of layers outside blocks, and of a block.
  double const first = static_cast<double>(held.gathered) / static_cast<double>(gathers.bytes);
  gathers.seconds *= std::max(0.0, 1 - first);
  return saved + gathers.saved_by_overlap(computes - saved);
}

}  // namespace redco::cost::detail

namespace redco::cost {

REDCO_INLINE step_time step_time_of(rank_cost const& cost, setup const& run, machine const& on) {
  int const machines = detail::machines_of(run, on);
  int const ranks = run.mesh.ranks() / machines;
  shape::zero const zero = run.zero.on(run.mesh);
  auto const all = [&](std::int64_t of_one) { return static_cast<double>(of_one) * ranks; };
  compute_speed const& speed = on.speed_of(run.compute, ranks);
  step_time t;
  t.products = static_cast<double>(cost.operations.total()) * run.mesh.size(shape::token_axes | shape::axis::pp) /
               machines / speed.operations_per_second;
  t.activations = all(cost.activity.bytes) / speed.activation_bytes_per_second;
  t.weights = all(cost.activity.weight_bytes) / speed.weight_bytes_per_second;
  t.tensors = static_cast<double>(cost.activity.tensors) * speed.seconds_per_tensor;
  detail::concurrent_messages of_gradients, of_parameters;
  std::array<detail::concurrent_messages, messages::purposes> of_shards;
  for (message_total const& one : cost.messages) {
    // Tensors between stages are in flight while the stages compute; a receive costs no time.
    if (one.calls == 0 || is_between_stages(one) || one.collective == shape::collective::recv) continue;
    double const before = t.messages;
    // The measured all-reduce consists of a reduce-scatter and an all-gather.
    double const calls = static_cast<double>(one.calls) * (one.collective == shape::collective::all_reduce ? 1 : 0.5);
    auto const add = [&](auto const& speed_of_group, std::int64_t bytes) {
      t.messages +=
          calls * speed_of_group.seconds_per_call + static_cast<double>(bytes) / speed_of_group.bytes_per_second;
    };
    if (one.here > 1) add(on.group_of(one.here, ranks), one.inside_bytes);
    if (one.hosts > 1) add(on.link_of(one.hosts, run.hosts), one.host_bytes);
    auto const index = static_cast<std::size_t>(&one - cost.messages.begin());
    // Groups of replicas sum their equal shares after backward.
    bool const after_backward =
        run.zero.shared_over != shape::token_axes && one.collective == shape::collective::all_reduce;
    bool const gradients = one.purpose == messages::name_of_gradients && !after_backward,
               parameters = one.purpose == messages::name_of_parameters;
    bool const in_layers = index <= messages::statistics || index == messages::shared_gradients ||
                           one.purpose == name_of_stage_gathers || (parameters && zero.shares_values()) ||
                           (index >= messages::purposes && one.purpose.ends_with(" exchanges"));
    if (!in_layers) t.once += t.messages - before;
    if (!gradients && !parameters && index > messages::backward_scatter) continue;
    detail::concurrent_messages& sent = gradients ? of_gradients : parameters ? of_parameters : of_shards[index];
    sent.seconds += t.messages - before;
    sent.calls += one.calls;
    sent.bytes += one.payload_bytes;
    if (one.hosts > 1) sent.busy = on.link_of(one.hosts, run.hosts).busy;
  }
  if (double const all_products = static_cast<double>(cost.operations.total()); all_products > 0) {
    double const computes = t.products + t.activations + t.weights + t.tensors;
    double const backward = 1 - static_cast<double>(cost.operations.forward) / all_products;
    if (run.overlap_shards) t.hidden += detail::saved_by_shards(of_shards, cost.operations, t.products / all_products);
    if (run.zero.bucket > 0 && !zero.sums_in_backward())
      t.hidden_once = of_gradients.saved_in_buckets(computes * backward / static_cast<double>(run.micro_batches));
    t.hidden += t.hidden_once;
    if (run.zero.overlaps)
      t.hidden += detail::saved_by_shares(of_gradients, of_parameters, cost.memory, run, computes, backward);
  }
  memory const& m = cost.memory;
  // With ZeRO, a rank updates the parameters of its share only.
  int const shares = zero.level > 0 ? run.mesh.size(run.zero.shared_over) : 1;
  std::int64_t const gradients = zero.sums_in_backward() ? m.gradients : m.gradients / shares;
  std::int64_t const values = zero.shares_values() ? m.parameters : m.parameters / shares;
  t.update = all(values + gradients + m.masters + m.optimizer) / on.update_bytes_per_second;
  return t;
}

}  // namespace redco::cost

namespace redco::cost::detail {

/// Returns the seconds in which a rank's tensors of one micro-batch in one chunk arrive at another
/// stage, in the slower direction.
inline double transfer_seconds(stage_cost const& stage, setup const& run, machine const& on) {
  int const machines = machines_of(run, on);
  double most = 0;
  for (message_total const& one : stage.cost.messages) {
    if (!is_between_stages(one) || one.collective != shape::collective::send || one.calls == 0) continue;
    auto const seconds = [&](auto const& speed, std::int64_t bytes) {
      // The measured all-reduce consists of a reduce-scatter and an all-gather.
      return 0.5 * static_cast<double>(one.calls) * speed.seconds_per_call +
             static_cast<double>(bytes) / speed.bytes_per_second;
    };
    double const all = one.hosts > 1 ? seconds(on.link_of(one.hosts, run.hosts), one.host_bytes)
                                     : seconds(on.group_of(one.here, run.mesh.ranks() / machines), one.inside_bytes);
    most = std::max(most, all / static_cast<double>(run.micro_batches * std::ssize(stage.chunks)));
  }
  return most;
}

/// Returns the predicted time of a step for each stage.
inline std::vector<step_time> step_times_of(std::vector<stage_cost> const& stages, setup const& run,
                                            machine const& on) {
  std::vector<step_time> all;
  for (stage_cost const& stage : stages) all.push_back(step_time_of(stage.cost, run, on));
  return all;
}

/// Returns the simulated course of a step on pipeline stages, whose own times are `of_stages`.
inline schedule::pipeline_run course_of(std::vector<stage_cost> const& stages, std::vector<step_time> const& of_stages,
                                        setup const& run, machine const& on) {
  schedule::pipeline_table const table = table_of(run, run.micro_batches);
  std::vector<schedule::chunk_times> times(table.chunks());
  auto const units = [](double seconds) { return static_cast<std::int64_t>(seconds / seconds_per_unit + 0.5); };
  for (std::size_t i = 0; i < stages.size(); ++i) {
    stage_cost const& stage = stages[i];
    step_time const& t = of_stages[i];
    operations const& made = stage.cost.operations;
    double const micro =
        (t.products + t.activations + t.weights + t.tensors + t.messages - t.once - (t.hidden - t.hidden_once)) /
        static_cast<double>(run.micro_batches);
    double const all = static_cast<double>(made.total()) / static_cast<double>(run.micro_batches);
    for (stage_cost::chunk const& one : stage.chunks) {
      double const forward = all > 0 ? micro * static_cast<double>(one.forward) / all
                                     : micro / static_cast<double>(3 * std::ssize(stage.chunks));
      // The second forward of recomputed blocks comes before the gradients of the chunk's input.
      double const again = all > 0 ? micro * static_cast<double>(one.again) / all : 0;
      times[static_cast<std::size_t>(one.index)] = {units(forward), units(forward + again), units(forward),
                                                    units(transfer_seconds(stage, run, on))};
    }
  }
  return schedule::simulate(table, times);
}

}  // namespace redco::cost::detail

namespace redco::cost {

REDCO_INLINE step_time pipeline_time::slowest() const {
  step_time most = *std::max_element(stages.begin(), stages.end(),
                                     [](step_time const& a, step_time const& b) { return a.total() < b.total(); });
  most.waits = total() - most.total();
  return most;
}

REDCO_INLINE schedule::pipeline_run pipeline_course_of(std::vector<stage_cost> const& stages, setup const& run,
                                                       machine const& on) {
  return detail::course_of(stages, detail::step_times_of(stages, run, on), run, on);
}

REDCO_INLINE schedule::pipeline_run pipeline_course_of(std::vector<stage_cost> const& stages, setup const& run) {
  constexpr double longest = 1e6;  // units of time of the longest forward
  schedule::pipeline_table const table = detail::table_of(run, run.micro_batches);
  std::vector<schedule::chunk_times> times(table.chunks());
  double most = 1;
  for (stage_cost const& stage : stages)
    for (stage_cost::chunk const& one : stage.chunks) most = std::max(most, static_cast<double>(one.forward));
  auto const units = [&](std::int64_t made) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(made) / most * longest + 0.5));
  };
  for (stage_cost const& stage : stages)
    for (stage_cost::chunk const& one : stage.chunks)
      times[static_cast<std::size_t>(one.index)] = {units(one.forward), units(one.forward + one.again),
                                                    units(one.forward)};
  return schedule::simulate(table, times);
}

REDCO_INLINE pipeline_time pipeline_time_of(std::vector<stage_cost> const& stages, setup const& run,
                                            machine const& on) {
  pipeline_time result;
  result.stages = detail::step_times_of(stages, run, on);
  for (step_time const& t : result.stages) result.end = std::max(result.end, t.once - t.hidden_once + t.update);
  schedule::pipeline_run const course = detail::course_of(stages, result.stages, run, on);
  result.pipeline = static_cast<double>(course.makespan) * seconds_per_unit;
  result.idle = course.idle();
  return result;
}

}  // namespace redco::cost
