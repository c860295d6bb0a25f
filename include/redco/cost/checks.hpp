#pragma once

#include <redco/cost/setup.hpp>
#include <redco/model/model.hpp>
#include <redco/fact/event.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/program.hpp>
#include <redco/optimizer/state_slots.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/bytes.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/zero.hpp>
#include <redco/diag/error.hpp>
#include <redco/schedule/pipeline_table.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace redco::cost {

/// Throws `error` with exit code 64 if the number of ranks of the mesh is not a multiple of
/// `hosts`.
constexpr void check_hosts(mesh const& on, int hosts) {
  if (hosts < 1 || on.ranks() % hosts != 0)
    throw error(exit_code::usage, std::to_string(on.ranks()) + (on.ranks() == 1 ? " rank" : " ranks") +
                                      " cannot be shared equally by " + std::to_string(hosts) +
                                      " hosts; choose a number of hosts that divides the ranks");
}

/// Throws `error` with exit code 64 if `value` is below `least`. The message contains `name`, the
/// name of the setting, and the value.
constexpr void check_count(char const* name, std::int64_t value, std::int64_t least) {
  if (value < least)
    throw error(exit_code::usage,
                std::string(name) + " is " + std::to_string(value) + ": give " + std::to_string(least) + " or more");
}

/// Throws `error` with exit code 64 if the batch has no examples, if examples have no tokens, or if
/// the encoder's length is negative.
constexpr void check_load(workload const& load) {
  check_count("the number of examples (batch)", load.batch, 1);
  check_count("the length of an example (sequence)", load.sequence, 1);
  check_count("the length of what an encoder reads (source)", load.source, 0);
}

/// Throws `error` with exit code 64 if the size of a mesh axis is below 1.
constexpr void check_axes(mesh const& on) {
  for (shape::axis const a : shape::all_axes) check_count("the size of a mesh axis", on[a], 1);
}

/// Throws `error` with exit code 64 if a setting of the run is impossible, such as a mesh axis of
/// size 0 or no micro-batches.
constexpr void check_setup(setup const& s) {
  check_axes(s.mesh);
  check_load(s.load);
  check_count("the number of micro-batches", s.micro_batches, 1);
  check_count("the number of batches prepared ahead (prefetch)", s.prefetch, 0);
  check_count("the bytes of a gradient bucket", s.zero.bucket, 0);
  shape::check_zero(s.zero.level, s.zero.keep);
  shape::check_zero_owner(s.zero.owner, s.zero.level);
  check_count("the number of chunks per pipeline stage", s.stages.chunks_per_stage, 1);
}

/// Throws `error` with exit code 64 if replicas keep shares of the elements of matrices that the
/// optimizer updates as a whole.
constexpr void check_zero(optimizer::demands const& demands, setup const& s) {
  if (s.zero.level > 0 && s.zero.owner == shape::zero_owner::element && s.mesh.size(shape::token_axes) > 1 &&
      (demands.gathers || demands.factors))
    throw error(exit_code::usage, "zero " + std::to_string(s.zero.level) +
                                      ": the optimizer updates whole matrices, and each replica would keep a share "
                                      "of their elements; choose --zero-owner whole, or another optimizer");
}

/// Returns the run `s` with what the optimizer demands of its layout.
constexpr setup demanded(setup s, optimizer::demands const& demands) {
  s.zero.owns_all = demands.factors;
  return s;
}

/// Returns the first message of a model's layers between replicas, such as the sums of batch norm,
/// or null. Pipeline stages do not run such layers.
constexpr fact::message_fact const* first_between_replicas(fact::program const& of) {
  for (fact::message_fact const& one : of.messages)
    if (one.over.has(shape::axis::dp)) return &one;
  return nullptr;
}

/// Returns true if pipeline stages can compute `micro_batches` micro-batches in the order of the
/// run's schedule.
constexpr bool has_schedule(setup const& s, std::int64_t micro_batches) {
  if (s.mesh.pp == 1) return true;
  std::int64_t const chunks = std::int64_t{s.mesh.pp} * s.stages.chunks_per_stage;
  if (s.table != nullptr)
    return static_cast<std::int64_t>(s.table->stages()) == s.mesh.pp &&
           static_cast<std::int64_t>(s.table->chunks()) == chunks && s.table->micro_batches == micro_batches;
  return schedule::refusal_of(
             {s.stages.schedule, s.mesh.pp, static_cast<int>(micro_batches), s.stages.chunks_per_stage})
      .empty();
}

/// Throws `error` with exit code 64 unless has_schedule() returns true.
constexpr void check_schedule(setup const& s, std::int64_t micro_batches) {
  if (has_schedule(s, micro_batches)) return;
  auto const number = [](std::int64_t n, char const* of) { return std::to_string(n) + of; };
  if (s.table != nullptr)
    throw error(exit_code::usage,
                "the schedule has " + number(static_cast<std::int64_t>(s.table->stages()), " stages, ") +
                    number(static_cast<std::int64_t>(s.table->chunks()), " chunks of blocks and ") +
                    number(s.table->micro_batches, " micro-batches, the run ") + number(s.mesh.pp, ", ") +
                    number(std::int64_t{s.mesh.pp} * s.stages.chunks_per_stage, " and ") +
                    number(micro_batches, ": give a run with the numbers of the schedule"));
  schedule::pipeline_shape const shape{s.stages.schedule, s.mesh.pp, static_cast<int>(micro_batches),
                                       s.stages.chunks_per_stage};
  throw error(exit_code::usage, "the schedule " +
                                    std::string(schedule::pipeline_kind_texts.text_of(s.stages.schedule)) + " " +
                                    std::string(schedule::refusal_of(shape)) + ", but there are " +
                                    number(s.mesh.pp, " stages, ") + number(micro_batches, " micro-batches and ") +
                                    number(s.stages.chunks_per_stage, " chunks per stage"));
}

/// Throws `error` with exit code 64 if no outermost `repeat` of the model has a block in the range
/// of blocks to recompute.
constexpr void check_recomputed(fact::program const& facts, recomputed_blocks const& again) {
  std::int64_t const begin = again.range.begin;
  std::int64_t most = 0, depth = 0;
  for (fact::event const& e : facts.events) {
    depth -= e.kind == fact::event_kind::repeat_end;
    if (e.kind == fact::event_kind::repeat && depth++ == 0) most = std::max(most, e.blocks.base + e.blocks.times);
  }
  if (begin == 0 || begin < most) return;
  throw error(exit_code::usage,
              "no block is recomputed: the range begins with block " + std::to_string(begin) + ", " +
                  (most == 0 ? "and the model repeats no blocks; recompute none"
                             : "and the model has blocks 0 to " + std::to_string(most - 1) +
                                   "; choose a range that begins at " + std::to_string(most - 1) + " or before"));
}

/// Throws `error` with exit code 64 if a run keeps more blocks gathered (ZeRO 3) than the model
/// has.
constexpr void check_kept_blocks(fact::program const& facts, std::int64_t keep) {
  std::int64_t blocks = 0, depth = 0;
  for (fact::event const& e : facts.events) {
    if (e.kind == fact::event_kind::repeat_end) --depth;
    if (e.kind != fact::event_kind::repeat) continue;
    if (depth == 0) blocks += e.blocks.count();
    ++depth;
  }
  if (keep > blocks)
    throw error(exit_code::usage, "--zero-keep " + std::to_string(keep) + ": the model has " +
                                      (blocks == 0 ? "no blocks; leave it out"
                                                   : std::to_string(blocks) + (blocks == 1 ? " block" : " blocks") +
                                                         "; give 0 to " + std::to_string(blocks)));
}

/// Returns an upper bound of every sum of bytes in the cost computation, or `saturated` if the
/// bound exceeds 63 bits. The bound is a product of three numbers. These are the elements of all
/// declared tensors, 16 bytes (the widest type plus padding), and the number of copies by optimizer
/// states, prefetched batches and messages.
constexpr std::int64_t cost_bound(fact::program const& facts, optimizer::demands const& demands, setup const& s) {
  std::int64_t elements = 0;
  auto const add = [&](extents const& shape, std::int64_t copies) {
    elements = shape::saturating_add(elements, shape::saturating_multiply(shape.count(), copies));
  };
  for (fact::parameter_fact const& f : facts.parameters) add(f.shape, f.copies());
  std::vector<std::int64_t> blocks = {1};  // product of the block counts of all open repeats
  for (fact::event const& e : facts.events) {
    if (e.kind == fact::event_kind::repeat)
      blocks.push_back(shape::saturating_multiply(blocks.back(), e.blocks.count()));
    if (e.kind == fact::event_kind::repeat_end) blocks.pop_back();
    bool const held = e.kind != fact::event_kind::read && e.kind != fact::event_kind::enter &&
                      e.kind != fact::event_kind::make && e.kind != fact::event_kind::moment;
    if (held && e.tensor.shape.rank > 0) add(e.tensor.shape, blocks.back());
  }
  for (fact::message_fact const& f : facts.messages) add(f.shape, f.copies);
  std::int64_t const ahead = shape::saturating_add(s.prefetch, 1),
                     messages = shape::saturating_multiply(s.micro_batches, 4);
  std::int64_t const times = shape::saturating_add(shape::largest({ahead, demands.most_slots() + 3}), messages);
  return shape::saturating_multiply(shape::saturating_multiply(elements, 16), times);
}

/// Throws `error` with exit code 64 if the cost of the run could exceed 64-bit integers. No later
/// sum or product can then overflow.
constexpr void check_magnitude(fact::program const& facts, optimizer::demands const& demands, setup const& s) {
  if (cost_bound(facts, demands, s) == shape::saturated)
    throw error(exit_code::usage,
                "the model and its batches have more bytes than 63 bits can count; give smaller sizes");
}

}  // namespace redco::cost
