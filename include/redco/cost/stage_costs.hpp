#pragma once

#include <redco/cost/detail/forward_pass.hpp>
#include <redco/cost/local_extents.hpp>
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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redco::cost {

/// The predicted cost of a rank of one pipeline stage in one step, and the tensors that pass the
/// stage's cuts.
struct stage_cost {
  shape::block_range blocks = {};
  int in_flight = 1;  ///< Largest number of micro-batches whose activations the stage holds at once
  /// Bytes of activations of one micro-batch that a rank receives from the preceding stage; it
  /// sends gradients of this size back. `sent` are the bytes that it sends to the next stage.
  std::int64_t received = 0, sent = 0;
  rank_cost cost;
};

/// Purposes of messages between pipeline stages, as message_total::purpose names them.
inline constexpr std::string_view name_of_stage_activations = "activations of stages";
inline constexpr std::string_view name_of_stage_gradients = "gradients of stages";
inline constexpr std::string_view name_of_tied_gradients = "gradients of tied weights";

/// Returns true for messages that carry hidden states of micro-batches, or their gradients, between
/// pipeline stages.
constexpr bool is_between_stages(message_total const& one) {
  return one.purpose == name_of_stage_activations || one.purpose == name_of_stage_gradients;
}

/// Returns the first of the stages whose ranks need the most memory.
constexpr stage_cost const& largest_of(std::vector<stage_cost> const& all) {
  stage_cost const* most = all.data();
  for (stage_cost const& one : all)
    if (one.cost.memory.peak() > most->cost.memory.peak()) most = &one;
  return *most;
}

}  // namespace redco::cost

namespace redco::cost::detail {

/// Returns the blocks of each pipeline stage of a run. Throws `error` with exit code 64 if the
/// model cannot be cut into these stages, or if the schedule has several chunks per stage.
constexpr shape::stage_cuts cuts_of(fact::program const& facts, setup const& s) {
  if (s.schedule == schedule::pipeline_kind::interleaved || s.schedule == schedule::pipeline_kind::v_half)
    throw error(exit_code::usage,
                "the schedule " + std::string(schedule::pipeline_kind_texts.text_of(s.schedule)) +
                    " has several chunks per stage, for which no memory is planned; choose gpipe, 1f1b or zb-h1");
  std::vector<std::int64_t> const work = shard::work_of_blocks(facts), asked = s.stages.lengths();
  auto const blocks = static_cast<std::int64_t>(work.size());
  if (s.mesh.pp > shard::most_stages(facts) || !(asked.empty() || shard::cuts_blocks(asked, blocks, s.mesh.pp)))
    return shard::stages_of(facts, s.mesh, asked);
  return asked.empty() ? shard::balanced_stages(work, s.mesh.pp) : s.stages;
}

/// Returns the largest number of micro-batches whose activations a stage holds at once.
constexpr int most_in_flight(setup const& s, int stage) {
  std::int64_t const most = s.schedule == schedule::pipeline_kind::gpipe         ? s.micro_batches
                            : s.schedule == schedule::pipeline_kind::one_f_one_b ? s.mesh.pp - stage
                                                                                 : s.mesh.pp;
  return static_cast<int>(std::min(most, s.micro_batches));
}

/// Messages of a rank of the pipeline stage `from` to and from its peers in other stages.
class stage_messages {
 public:
  constexpr stage_messages(messages& all, setup const& s, int from) : all_(all), setup_(s), from_(from) {}

  /// Adds `times` sends of `bytes` bytes to the stage `to`.
  constexpr void send(std::string_view purpose, int to, std::int64_t times, std::int64_t bytes) {
    message_total& sent = total(purpose, shape::collective::send);
    int const outside = ranks_apart(to);
    sent += {times, times * bytes, times * bytes, times * bytes * outside};
    sent.hosts = std::max(sent.hosts, outside > 0 ? 2 : 1);
    if (outside > 0) return;
    sent.here = 2;
    sent.inside_bytes += times * bytes;
  }

  constexpr void receive(std::string_view purpose, std::int64_t times, std::int64_t bytes) {
    total(purpose, shape::collective::recv) += {times, times * bytes, 0, 0};
  }

 private:
  constexpr message_total& total(std::string_view purpose, shape::collective kind) {
    return all_.total({{}, purpose, shape::axis::pp, kind, setup_.mesh.pp});
  }

  /// Returns the largest number of ranks of the stage that are on one host and whose peers in the
  /// stage `to` are on other hosts.
  constexpr int ranks_apart(int to) const {
    shape::host_map const map{setup_.mesh, setup_.hosts};
    int const ranks = setup_.mesh.ranks() / setup_.mesh.pp;
    int most = 0, count = 0, host = -1;
    for (int i = 0; i < ranks; ++i) {
      int const rank = from_ * ranks + i;
      if (map.host_of(rank) != host) count = 0;
      host = map.host_of(rank);
      if (map.host_of(to * ranks + i) != host) most = std::max(most, ++count);
    }
    return most;
  }

  messages& all_;
  setup const& setup_;
  int from_;
};

/// Adds the exchange of gradients of parameters that several stages hold. Each other stage sends
/// its gradient to the first stage, which adds the gradients in the order of stages and returns the
/// sum.
constexpr void add_tied(stage_messages& to, fact::program const& whole, shape::stage_cuts const& cuts, setup const& s,
                        int stage) {
  for (fact::parameter_fact const& fact : whole.parameters) {
    if (fact.blocks.depth > 0 || !fact.trained) continue;
    shape::stage_set const held = fact.stages(cuts, 0);
    if (!held.has(stage)) continue;
    std::int64_t const bytes = shard::entry{fact, s.mesh}.local().count() * shape::size_of(s.compute);
    for (int other = held.first(); other < cuts.size(); ++other) {
      if (other == stage || !held.has(other) || (stage != held.first() && other != held.first())) continue;
      to.send(name_of_tied_gradients, other, 1, bytes);
      to.receive(name_of_tied_gradients, 1, bytes);
    }
  }
}

/// Returns the bytes of a micro-batch. Every stage holds all of its tensors, because each stage
/// runs the user's collate function.
constexpr std::int64_t batch_bytes(fact::program const& whole, setup const& s) {
  std::int64_t bytes = 0;
  for (placed_tensor const& t : forward_pass(whole, s).tensors)
    if (t.lifetime == placed_tensor::kind::batch) bytes += t.all();
  return bytes;
}

constexpr stage_cost cost_of_stage(fact::program const& whole, optimizer::demands const& demands, setup const& s,
                                   shape::stage_cuts const& cuts, int stage) {
  fact::program const part = fact::stage_of(whole, cuts, stage);
  simulation const run(part, s);
  stage_cost c{cuts.blocks(stage),
               most_in_flight(s, stage),
               0,
               0,
               {memory_of(run, demands), messages_of(run, demands), operations_of(run.work(), s), activity_of(run)}};
  stage_messages between(c.cost.messages, s, stage);
  for (fact::event const& e : part.events) {
    if (e.kind != fact::event_kind::receive && e.kind != fact::event_kind::send) continue;
    bool const receives = e.kind == fact::event_kind::receive;
    std::int64_t const bytes = local_bytes(e.tensor, e.width, s.mesh.tp, s.compute);
    (receives ? c.received : c.sent) += bytes;
    between.send(receives ? name_of_stage_gradients : name_of_stage_activations, receives ? stage - 1 : stage + 1,
                 s.micro_batches, bytes);
    between.receive(receives ? name_of_stage_activations : name_of_stage_gradients, s.micro_batches, bytes);
  }
  add_tied(between, whole, cuts, s, stage);
  memory& m = c.cost.memory;
  m.activations += (c.in_flight - 1) * run.activations();
  m.backward.activations += (c.in_flight - 1) * run.activations();
  m.transfers = (c.in_flight + 1) * c.sent + 2 * c.received;
  return c;
}

constexpr std::vector<stage_cost> costs_of_stages(fact::program const& whole, optimizer::demands const& demands,
                                                  setup const& s) {
  shape::stage_cuts const cuts = cuts_of(whole, s);
  std::vector<stage_cost> all;
  std::int64_t const batch = batch_bytes(whole, s);
  for (int stage = 0; stage < cuts.size(); ++stage) {
    all.push_back(cost_of_stage(whole, demands, s, cuts, stage));
    all.back().cost.memory.batches = batch * (all.back().in_flight + s.prefetch);
  }
  return all;
}

}  // namespace redco::cost::detail
