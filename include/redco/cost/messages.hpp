#pragma once

#include <redco/cost/detail/shared_buffers.hpp>
#include <redco/cost/host_load.hpp>
#include <redco/cost/local_extents.hpp>
#include <redco/cost/setup.hpp>
#include <redco/cost/simulation.hpp>
#include <redco/shard/entry.hpp>
#include <redco/shard/regions.hpp>
#include <redco/fact/program.hpp>
#include <redco/optimizer/state_slots.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/extents.hpp>
#include <redco/shape/hosts.hpp>
#include <redco/shape/pieces.hpp>
#include <redco/shape/place.hpp>
#include <redco/shape/traffic.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace redco::cost {

/// The messages of one purpose (such as gradient sums) that one rank sends in one step. Groups of
/// one rank send none. `wire_bytes` assumes a ring over all ranks of the group. `host_bytes` are
/// the bytes that the busiest host sends to other hosts for all its groups.
struct message_total : shape::traffic::entry {
  std::string_view purpose;
  shape::axes over = shape::axis::tp;  ///< Mesh axes over which the group extends
  shape::collective collective = shape::collective::all_reduce;
  int ranks = 1;
  int hosts = 1;  ///< Largest number of hosts over which one group spreads
  int here = 1;   ///< Largest number of ranks of one group on one host
  /// Bytes that a rank sends to ranks on its own host, in rings of the group's ranks on this host.
  std::int64_t inside_bytes = 0;

  /// Adds `times` calls with `payload` bytes each. Requires a group of more than one rank. `on`
  /// describes how the groups spread over hosts.
  constexpr void add(std::int64_t times, std::int64_t payload, host_load const& on) {
    *this += {times, times * payload, times * shape::ring_bytes(collective, payload, ranks),
              times * on.bytes(collective, payload)};
    hosts = on.hosts();
    here = on.here();
    if (here > 1) inside_bytes += times * shape::ring_bytes(collective, payload, here);
  }

  friend constexpr bool operator==(message_total const&, message_total const&) = default;
};

/// The messages of one rank in one step, summed by purpose: `messages[messages::gradients]`. The
/// member `all` has one entry per purpose. Entries for messages over other mesh axes, which belong
/// to no named purpose, follow.
struct messages {
  enum purpose : std::size_t {
    forward,
    forward_gather,
    forward_scatter,
    backward,
    backward_gather,
    backward_scatter,
    loss,
    statistics,
    gradients,
    shared_gradients,
    loss_total,
    norm_of_gradients,
    purposes
  };

  static constexpr std::string_view name_of_gradients = "gradients";
  static constexpr std::string_view name_of_parameters = "parameters";
  static constexpr std::string_view name_of_matrices = "whole matrices";
  static constexpr std::string_view name_of_factors = "sums of factored state";
  static constexpr std::string_view name_of_loads = "loads of experts";

  std::array<message_total, purposes + 16> all{};
  std::size_t used = purposes;

  constexpr message_total const& operator[](purpose p) const { return all[p]; }
  constexpr message_total const* begin() const { return all.data(); }
  constexpr message_total const* end() const { return all.data() + used; }

  /// Returns the entry with the purpose, axes and collective of `like`. Adds the entry if it does
  /// not exist.
  constexpr message_total& total(message_total const& like) {
    for (std::size_t i = 0; i < used; ++i)
      if (all[i].purpose == like.purpose && all[i].over == like.over && all[i].collective == like.collective)
        return all[i];
    return all.at(used++) = like;
  }

  constexpr std::int64_t calls() const {
    std::int64_t sum = 0;
    for (message_total const& one : *this) sum += one.calls;
    return sum;
  }
  constexpr std::int64_t host_bytes() const {
    std::int64_t sum = 0;
    for (message_total const& one : *this) sum += one.host_bytes;
    return sum;
  }
  constexpr std::int64_t wire_bytes() const {
    std::int64_t sum = 0;
    for (message_total const& one : *this) sum += one.wire_bytes;
    return sum;
  }

  friend constexpr bool operator==(messages const&, messages const&) = default;
};

/// Maximum number of terms of a loss.
inline constexpr std::int64_t most_loss_terms = 16;

/// Number of f64 values that a step sums over all ranks for its loss. Each term of the loss has
/// three (weighted sum, sum and count), and there is one flag.
inline constexpr std::int64_t loss_total_numbers = 3 * most_loss_terms + 1;

}  // namespace redco::cost

namespace redco::cost::detail {

/// Returns the entry of `m` that counts the messages `fact`, which a layer declares. Adds an entry
/// if no named purpose fits.
constexpr message_total& total_of(messages& m, fact::message_fact const& fact, mesh const& on) {
  bool const sums = fact.collective == shape::collective::all_reduce,
             gathers = fact.collective == shape::collective::all_gather,
             scatters = fact.collective == shape::collective::reduce_scatter;
  if (fact.over == shape::batch_axes && sums) return m.all[messages::statistics];
  if (fact.over != shape::axes(shape::axis::tp) || !(sums || gathers || scatters))
    return m.total({{},
                    fact.backward ? "backward exchanges" : "forward exchanges",
                    fact.over,
                    fact.collective,
                    on.size(fact.over)});
  if (fact.parts > 0) return m.all[messages::shared_gradients];
  if (fact.kind == fact::width_kind::accumulate && !fact.backward) return m.all[messages::loss];
  auto const first = fact.backward ? messages::backward : messages::forward;
  return m.all[first + (gathers ? 1 : scatters ? 2 : 0)];
}

/// Returns the number of elements of a message that a layer declares. If tokens are gathered or
/// scattered, they are padded so that all ranks have equal numbers of tokens. If the message has
/// units, such as heads, each tensor-parallel rank sends its own.
constexpr std::int64_t numbers_of(fact::message_fact const& fact, mesh const& on) {
  extents shape = fact.shape;
  int const ranks = on.size(fact.over);
  if (fact.units > 0) return local_extents({shape, shape.rank - 1, fact.units}, on.tp).count();
  bool const of_tokens =
      fact.collective == shape::collective::all_gather || fact.collective == shape::collective::reduce_scatter;
  if (of_tokens && fact.over == shape::axes(shape::axis::tp) && shape.rank > 1)
    shape[-2] = (shape[-2] + ranks - 1) / ranks * ranks;
  return shape.count();
}

/// Calls `sum(axes, times, bytes)` for the gradient sums of a step: `times` sums of `bytes` bytes
/// each over the mesh axes `axes`. The sizes of the regions `all` are in bytes. If `bucket` is 0,
/// adjacent regions with equal axes form one sum. Otherwise each bucket of at most `bucket` bytes
/// is one sum.
template <class Sum>
constexpr void sums_of_gradients(shard::regions const& all, std::int64_t bucket, Sum const& sum) {
  shard::regions some = all;  // g++ 12 frees the result of a conditional expression too early
  if (bucket == 0) some = all.sums();
  for (shard::region const& one : some) {
    shape::buckets const cut{one.size(), bucket};
    if (cut.count() == 0) continue;
    sum(one.summed_over, cut.count() - 1, bucket);
    sum(one.summed_over, 1, one.size() - cut.begin(cut.count() - 1));
  }
}

/// Calls `gather(axis, times, bytes)` for the gathers of hidden matrices in an update, of `bytes`
/// bytes each after the gather. If matrices have owners, counts those of the first replica.
template <class Gather>
constexpr void gathers_of_matrices(simulation const& of, shared_buffers const& buffers, Gather const& gather) {
  setup const& s = of.run();
  for (std::size_t i = 0; i < of.program().parameters.size(); ++i) {
    fact::parameter_fact const& fact = of.program().parameters[i];
    std::int64_t const copies = buffers.copies_of(i, fact, 0);
    if (!fact.is_hidden_matrix() || copies == 0) continue;
    shard::entry const e{fact, s.mesh};
    extents held = e.local();
    for (shape::place const& p : fact.places) {
      if (p.dim < 0 || !e.is_split(p.axis)) continue;
      gather(p.axis, copies, held.count() * s.mesh[p.axis] * shape::size_of(accumulate_type(s.compute)));
      held[p.dim] = fact.shape[p.dim];
    }
  }
}

/// Returns the number of experts of all routers whose biases balance the loads. A step sums these
/// loads once.
constexpr std::int64_t balanced_experts(fact::program const& of) {
  std::int64_t experts = 0;
  for (fact::parameter_fact const& fact : of.parameters)
    if (fact.why == fact::reason::router && fact.shape.rank == 1) experts += fact.shape.count() * fact.copies();
  return experts;
}

/// Calls `sum(axis, times, numbers)` for the sums over whole parameters in an update with factored
/// state, of `numbers` numbers each (see update_by for adafactor). If parameters have owners,
/// counts those of the first replica.
template <class Sum>
constexpr void sums_of_factors(simulation const& of, shared_buffers const& buffers, Sum const& sum) {
  for (std::size_t i = 0; i < of.program().parameters.size(); ++i) {
    fact::parameter_fact const& fact = of.program().parameters[i];
    std::int64_t const copies = buffers.copies_of(i, fact, 0);
    if (!fact.trained || copies == 0) continue;
    shard::entry const e{fact, of.run().mesh};
    int const rank = fact.shape.rank;
    for (shape::place const& p : fact.places) {
      if (p.dim < 0 || !e.is_split(p.axis)) continue;
      std::int64_t stacked = 1;
      for (int d = 0; d + 2 < rank; ++d) stacked *= e.local()[d];
      bool const cuts_matrices = rank > 1 && p.dim >= rank - 2;
      sum(p.axis, copies, 1 + (cuts_matrices ? e.without(p.dim - rank).local().count() : 0));
      sum(p.axis, copies, cuts_matrices ? 2 * stacked : 1);
    }
  }
}

}  // namespace redco::cost::detail

namespace redco::cost {

/// Returns the messages of one rank in one step. `demands` belong to the optimizer.
constexpr messages messages_of(simulation const& of, optimizer::demands const& demands = 0) {
  setup const& s = of.run();
  messages m;
  // Indexed by the bits of the axes
  std::array<std::optional<host_load>, shape::axis_sets> loads;
  auto const count = [&](message_total& in, std::int64_t times, std::int64_t payload) {
    std::optional<host_load>& load = loads[in.over.bits];
    if (in.ranks > 1 && !load) load.emplace(shape::host_map{s.mesh, s.hosts}, in.over);
    if (in.ranks > 1) in.add(times, payload, *load);
  };
  auto const row = [&](messages::purpose p, std::string_view purpose, shape::axes over,
                       shape::collective collective = shape::collective::all_reduce) {
    m.all[p] = {{}, purpose, over, collective, s.mesh.size(over)};
  };
  row(messages::forward, "forward activations", shape::axis::tp);
  row(messages::forward_gather, "forward, tokens joined", shape::axis::tp, shape::collective::all_gather);
  row(messages::forward_scatter, "forward, tokens summed", shape::axis::tp, shape::collective::reduce_scatter);
  row(messages::backward, "backward activations", shape::axis::tp);
  row(messages::backward_gather, "backward, tokens joined", shape::axis::tp, shape::collective::all_gather);
  row(messages::backward_scatter, "backward, tokens summed", shape::axis::tp, shape::collective::reduce_scatter);
  row(messages::loss, "loss over the vocabulary", shape::axis::tp);
  row(messages::statistics, "batch norm statistics", shape::batch_axes);
  row(messages::gradients, messages::name_of_gradients, shape::token_axes);
  row(messages::shared_gradients, "gradients of shared parts", shape::axis::tp);
  row(messages::loss_total, "loss and count", shape::every_axis);
  detail::shared_buffers const buffers(of.program().parameters, s);
  bool const shares = !buffers.parts.empty();
  row(messages::norm_of_gradients, "gradient norm", shares ? shape::every_axis : shape::model_axes);

  for (std::size_t i = 0; i < of.sent().size(); ++i) {
    if (of.sent()[i] == 0) continue;
    fact::message_fact const& fact = of.program().messages[i];
    count(detail::total_of(m, fact, s.mesh), s.micro_batches * of.sent()[i],
          detail::numbers_of(fact, s.mesh) * size_of(fact.kind, s.compute));
  }
  shard::regions flat;  // regions with sizes in bytes
  for (fact::parameter_fact const& fact : of.program().parameters) {
    shard::entry const e{fact, s.mesh};
    if (fact.trained && !shares)
      flat.add(shard::region_of(e, true), e.local().count() * shape::size_of(s.compute) * fact.copies());
  }
  auto const total = [&](std::string_view purpose, shape::axes over, shape::collective kind) -> message_total& {
    return m.total({{}, purpose, over, kind, s.mesh.size(over)});
  };
  detail::sums_of_gradients(flat, s.zero.bucket, [&](shape::axes over, std::int64_t times, std::int64_t of_one) {
    count(over == shape::token_axes ? m.all[messages::gradients]
                                    : total(messages::name_of_gradients, over, shape::collective::all_reduce),
          times, of_one);
  });
  for (detail::shared_part const& part : buffers.parts) {
    std::int64_t const sums = part.blocks * (buffers.zero.sums_in_backward() ? s.micro_batches : 1),
                       gathers = buffers.gathers_of(part, s.micro_batches);
    for (shard::shared_range const& one : part.shares) {
      std::int64_t const bytes = one.size() * shape::size_of(s.compute);
      bool const trained = part.is_trained(one);
      if (trained) count(total(messages::name_of_gradients, one.over, shape::collective::reduce_scatter), sums, bytes);
      if (trained && !one.copied_over.empty() && !buffers.zero.sums_in_backward())
        count(total(messages::name_of_gradients, one.copied_over, shape::collective::all_reduce), part.blocks,
              bytes / one.ranks);
      // Pipeline stages gather values in the order of their computations; see add_gathers().
      if (!(buffers.zero.on_stages && buffers.zero.shares_values()))
        count(total(messages::name_of_parameters, one.over, shape::collective::all_gather), gathers, bytes);
    }
  }
  shape::axes const copied_over = shape::token_axes.without(s.zero.shared_over);
  if (shares && !copied_over.empty() && buffers.zero.sums_in_backward())
    count(total(messages::name_of_gradients, copied_over, shape::collective::all_reduce), 1,
          buffers.kept_by_first() * shape::size_of(s.compute));
  if (demands.gathers)
    detail::gathers_of_matrices(of, buffers, [&](shape::axis over, std::int64_t times, std::int64_t of_one) {
      count(total(messages::name_of_matrices, over, shape::collective::all_gather), times, of_one);
    });
  if (demands.factors)
    detail::sums_of_factors(of, buffers, [&](shape::axis over, std::int64_t times, std::int64_t numbers) {
      count(total(messages::name_of_factors, over, shape::collective::all_reduce), times,
            numbers * shape::size_of(accumulate_type(s.compute)));
    });
  if (std::int64_t const experts = detail::balanced_experts(of.program()); experts > 0)
    count(total(messages::name_of_loads, shape::token_axes, shape::collective::all_reduce), 1,
          experts * shape::size_of(dtype::f64));
  count(m.all[messages::loss_total], 1, loss_total_numbers * shape::size_of(dtype::f64));
  count(m.all[messages::norm_of_gradients], 1, shape::size_of(dtype::f64));
  return m;
}

}  // namespace redco::cost
