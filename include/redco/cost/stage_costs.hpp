#pragma once

#include <redco/cost/checks.hpp>
#include <redco/cost/detail/forward_pass.hpp>
#include <redco/cost/detail/gathered_blocks.hpp>
#include <redco/cost/detail/stage_edges.hpp>
#include <redco/cost/detail/stage_gathers.hpp>
#include <redco/cost/detail/stage_memory.hpp>
#include <redco/cost/detail/stage_messages.hpp>
#include <redco/cost/memory_of.hpp>
#include <redco/cost/messages.hpp>
#include <redco/cost/operations.hpp>
#include <redco/cost/rank_cost.hpp>
#include <redco/cost/setup.hpp>
#include <redco/cost/simulation.hpp>
#include <redco/shard/entry.hpp>
#include <redco/shard/plan.hpp>
#include <redco/shard/stages.hpp>
#include <redco/fact/event.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/program.hpp>
#include <redco/fact/stage_of.hpp>
#include <redco/optimizer/state_slots.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/hosts.hpp>
#include <redco/shape/place.hpp>
#include <redco/shape/stage_cuts.hpp>
#include <redco/diag/error.hpp>
#include <redco/schedule/pipeline_table.hpp>
#include <redco/schedule/step_of.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redco::cost {

/// The predicted cost of a rank of one pipeline stage in one step, and the tensors that pass the
/// cuts of the stage's chunks.
struct stage_cost {
  /// A chunk of the stage: its blocks, and the operations of its forward of one micro-batch.
  struct chunk {
    int index = 0;  ///< Index among the chunks of all stages
    shape::block_range blocks = {};
    std::int64_t forward = 0, again = 0;  ///< `again`: operations that backward repeats
  };

  std::vector<chunk> chunks = {};
  /// Largest number of forwards, over all chunks, whose activations the stage holds at once
  int in_flight = 1;
  /// Bytes of activations of one micro-batch that a rank receives from its peers in other stages;
  /// it sends gradients of this size back. `sent` are the bytes that it sends to later chunks.
  std::int64_t received = 0, sent = 0;
  rank_cost cost;
};

/// Returns the first of the stages whose ranks need the most memory.
constexpr stage_cost const& largest_of(std::vector<stage_cost> const& all) {
  stage_cost const* most = all.data();
  for (stage_cost const& one : all)
    if (one.cost.memory.peak() > most->cost.memory.peak()) most = &one;
  return *most;
}

}  // namespace redco::cost

namespace redco::cost::detail {

/// Returns the blocks of each chunk of the pipeline stages of a run. Throws `error` with exit code
/// 64 if the model cannot be cut into these chunks.
constexpr shape::stage_cuts cuts_of(fact::program const& facts, setup const& s) {
  std::vector<std::int64_t> const work = shard::work_of_blocks(facts), asked = s.stages.cuts.lengths();
  auto const blocks = static_cast<std::int64_t>(work.size());
  std::int64_t const chunks = std::int64_t{s.mesh.pp} * s.stages.chunks_per_stage;
  bool const fits = facts.has_cuttable_rows && s.mesh.pp <= shape::stage_cuts::most_stages && chunks <= blocks &&
                    chunks <= shape::stage_cuts::most_chunks;
  if (!fits || !(asked.empty() || shard::cuts_blocks(asked, blocks, chunks)))
    return shard::stages_of(facts, s.mesh, asked, s.stages.chunks_per_stage);
  return asked.empty() ? shard::balanced_stages(work, static_cast<int>(chunks)) : s.stages.cuts;
}

/// Returns the computations of the stages in a step with `micro_batches` micro-batches.
constexpr schedule::pipeline_table table_of(setup const& s, std::int64_t micro_batches) {
  if (s.table != nullptr && s.table->micro_batches == micro_batches) return *s.table;
  return schedule::table_of(schedule::step_facts{.micro_batches = micro_batches,
                                                 .stages = s.mesh.pp,
                                                 .schedule = s.stages.schedule,
                                                 .chunks_per_stage = s.stages.chunks_per_stage});
}

/// Returns the number of micro-batches after which no later one raises the peak of a stage: all for
/// GPipe and for a file. In other schedules, later micro-batches repeat the course of earlier ones.
constexpr std::int64_t micro_batches_to_peak(setup const& s) {
  if (s.table != nullptr || s.stages.schedule == schedule::pipeline_kind::gpipe) return s.micro_batches;
  return std::min<std::int64_t>(s.micro_batches, std::int64_t{4} * s.mesh.pp * s.stages.chunks_per_stage);
}

/// Returns the bytes of a micro-batch. Every stage holds all of its tensors, because each stage
/// runs the user's collate function.
constexpr std::int64_t batch_bytes(fact::program const& whole, setup const& s) {
  std::int64_t bytes = 0;
  for (placed_tensor const& t : forward_pass(whole, s).tensors)
    if (t.lifetime == placed_tensor::kind::batch) bytes += t.all();
  return bytes;
}

/// Returns the bytes of one micro-batch in a chunk, whose program is `of.program()`. `edges`: the
/// tensors that pass the cuts of the chunk.
constexpr chunk_bytes bytes_of(simulation const& of, std::vector<edge_tensor> const& edges) {
  chunk_bytes c{.activations = of.activations(),
                .loss = of.loss(),
                .loss_workspace = of.loss_workspace(),
                .gathered = of.gathered(),
                .backward = of.backward()};
  std::vector<fact::event> const& events = of.program().events;
  for (edge_tensor const& one : edges) {
    (one.is_received ? c.received : c.sent) += one.bytes;
    std::int64_t& part = one.is_received ? c.received_part : c.sent_part;
    if (one.is_scattered) part = std::max(part, one.message);
    if (one.is_received) continue;
    bool saved = false;
    for (std::size_t i = 0; i < events.size(); ++i)
      saved = saved ||
              (events[i].kind == fact::event_kind::save && events[i].tensor.id == one.id && of.tensors()[i].saved > 0);
    if (!saved) c.output += one.bytes;
  }
  return c;
}

/// The chunks of all pipeline stages of a run: programs, simulations and bytes. Refers to the
/// setup, which must outlive the object.
class stage_plan {
 public:
  /// Plans the stages of the model `whole` in a step with `micro_batches` micro-batches.
  constexpr stage_plan(fact::program const& whole, setup const& s, std::int64_t micro_batches)
      : whole_(whole), setup_(s), cuts_(cuts_of(whole, s)), table_(table_of(s, micro_batches)) {
    for (int chunk = 0; chunk < cuts_.size(); ++chunk) parts_.push_back(fact::stage_of(whole, cuts_, chunk));
    runs_.reserve(parts_.size());
    for (fact::program const& part : parts_) runs_.push_back(simulation(part, s));
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      edges_.push_back(edges_of(parts_[i], s, table_.stage_of, static_cast<int>(i)));
      bytes_.push_back(bytes_of(runs_[i], edges_[i]));
    }
    if (s.zero.level >= 3)
      for (int stage = 0; stage < s.mesh.pp; ++stage) add_gathered(stage);
  }
  stage_plan(stage_plan const&) = delete;
  stage_plan& operator=(stage_plan const&) = delete;

  constexpr stage_cost cost_of(int stage, optimizer::demands const& demands) const {
    std::vector<fact::program> parts;
    stage_cost c;
    operations made;
    activity moved;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (table_.stage_of[i] != stage) continue;
      parts.push_back(parts_[i]);
      fact::work const& work = runs_[i].work();
      c.chunks.push_back({static_cast<int>(i), cuts_.blocks(static_cast<int>(i)), work.all, work.again});
      made += operations_of(work, setup_);
      moved += activity_of(runs_[i]);
    }
    fact::program const own = fact::joined(parts);
    simulation const run(own, setup_);
    c.cost = {memory_of(run, demands), messages_of(run, demands), made, moved};
    if (setup_.zero.level >= 3)
      add_gathers(c.cost.messages, shared_buffers(own.parameters, setup_), table_of(setup_, setup_.micro_batches),
                  cuts_, setup_, stage);
    stage_messages between(c.cost.messages, setup_, stage);
    for (stage_cost::chunk const& one : c.chunks) add_edges(c, between, one.index, stage);
    add_tied(between, whole_, cuts_, setup_, table_.stage_of, stage);
    set_memory(c, stage);
    return c;
  }

  /// Returns the moments of a stage's computations, in their order.
  std::vector<stage_moment> moments_of(int stage) const {
    std::vector<stage_moment> all;
    stage_memory const run(table_, bytes_, stage, &all);
    return all;
  }

 private:
  /// Adds the values that a rank of a stage has gathered for its other chunks while it computes a
  /// chunk.
  constexpr void add_gathered(int stage) {
    std::vector<fact::program> parts;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (table_.stage_of[i] == stage) parts.push_back(parts_[i]);
    fact::program const own = fact::joined(parts);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (table_.stage_of[i] != stage) continue;
      std::int64_t const more = gathered_blocks(own, setup_).always() - gathered_blocks(parts_[i], setup_).always();
      bytes_[i].gathered += more;
      bytes_[i].backward.gathered += more;
    }
  }

  /// Adds the tensors that pass the cuts before and after a chunk.
  constexpr void add_edges(stage_cost& c, stage_messages& between, int chunk, int stage) const {
    std::int64_t const times = setup_.micro_batches;
    for (edge_tensor const& one : edges_[static_cast<std::size_t>(chunk)]) {
      if (one.other == stage) continue;
      bool const receives = one.is_received;
      (receives ? c.received : c.sent) += one.message;
      between.send(receives ? name_of_stage_gradients : name_of_stage_activations, one.other, times, one.message);
      between.receive(receives ? name_of_stage_activations : name_of_stage_gradients, times, one.message);
      if (one.is_scattered) between.gather(times, one.bytes);
    }
  }

  constexpr void set_memory(stage_cost& c, int stage) const {
    stage_memory const most(table_, bytes_, stage);
    c.in_flight = most.in_flight;
    memory& m = c.cost.memory;
    m.activations = most.activations;
    m.transfers = most.transfers;
    m.loss = most.loss;
    m.loss_workspace = most.loss_workspace;
    m.backward = most.backward;
  }

  fact::program const& whole_;
  setup const& setup_;
  shape::stage_cuts cuts_;
  schedule::pipeline_table table_;
  std::vector<fact::program> parts_;  ///< Programs of the chunks
  std::vector<simulation> runs_;
  std::vector<std::vector<edge_tensor>> edges_;
  std::vector<chunk_bytes> bytes_;
};

constexpr std::vector<stage_cost> costs_of_stages(fact::program const& whole, optimizer::demands const& demands,
                                                  setup const& s) {
  setup const run = demanded(s, demands);
  stage_plan const plan(whole, run, micro_batches_to_peak(s));
  std::vector<stage_cost> all;
  std::int64_t const batch = batch_bytes(whole, s);
  for (int stage = 0; stage < s.mesh.pp; ++stage) {
    all.push_back(plan.cost_of(stage, demands));
    all.back().cost.memory.batches = held_batch(batch, s) * all.back().in_flight + whole_batch(batch, s) * s.prefetch;
  }
  return all;
}

}  // namespace redco::cost::detail
