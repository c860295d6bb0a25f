#pragma once

#include <redco/cost/host_load.hpp>
#include <redco/cost/messages.hpp>
#include <redco/cost/setup.hpp>
#include <redco/shard/entry.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/program.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/hosts.hpp>
#include <redco/shape/place.hpp>
#include <redco/shape/stage_cuts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace redco::cost {

/// Purposes of messages between pipeline stages, as message_total::purpose names them.
inline constexpr std::string_view name_of_stage_activations = "activations of stages";
inline constexpr std::string_view name_of_stage_gradients = "gradients of stages";
inline constexpr std::string_view name_of_tied_gradients = "gradients of tied weights";
/// Purpose of the gathers of tensors that arrive from another stage in parts
inline constexpr std::string_view name_of_stage_gathers = "gathers of stages";

/// Returns true for messages that carry hidden states of micro-batches, or their gradients, between
/// pipeline stages.
constexpr bool is_between_stages(message_total const& one) {
  return one.purpose == name_of_stage_activations || one.purpose == name_of_stage_gradients;
}

}  // namespace redco::cost

namespace redco::cost::detail {

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

  /// Adds `times` gathers, over the shards, of a tensor that has `bytes` bytes afterwards.
  constexpr void gather(std::int64_t times, std::int64_t bytes) {
    message_total& gathered =
        all_.total({{}, name_of_stage_gathers, shape::axis::tp, shape::collective::all_gather, setup_.mesh.tp});
    gathered.add(times, bytes, host_load({setup_.mesh, setup_.hosts}, shape::axis::tp));
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
                        std::vector<int> const& stage_of, int stage) {
  for (fact::parameter_fact const& fact : whole.parameters) {
    if (fact.blocks.depth > 0 || !fact.trained) continue;
    shape::stage_set held{0};
    for (int chunk = 0; chunk < cuts.size(); ++chunk)
      if (fact.is_read_in(cuts, chunk)) held.bits |= std::uint64_t{1} << stage_of[static_cast<std::size_t>(chunk)];
    if (!held.has(stage)) continue;
    std::int64_t const bytes = shard::entry{fact, s.mesh}.local().count() * shape::size_of(s.compute);
    for (int other = held.first(); other < s.mesh.pp; ++other) {
      if (other == stage || !held.has(other) || (stage != held.first() && other != held.first())) continue;
      to.send(name_of_tied_gradients, other, 1, bytes);
      to.receive(name_of_tied_gradients, 1, bytes);
    }
  }
}

}  // namespace redco::cost::detail
