#pragma once

#include <redco/cost/detail/shared_buffers.hpp>
#include <redco/cost/local_extents.hpp>
#include <redco/cost/memory.hpp>
#include <redco/cost/setup.hpp>
#include <redco/cost/simulation.hpp>
#include <redco/shard/entry.hpp>
#include <redco/fact/event.hpp>
#include <redco/fact/path.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::cost::detail {

/// Returns the elements of the optimizer's state of a rank's part of one trained parameter.
constexpr std::int64_t state_elements(fact::parameter_fact const& fact, optimizer::demands const& demands,
                                      mesh const& on) {
  shard::entry const e{fact, on};
  int const slots = demands.gathers && fact.is_hidden_matrix() ? demands.matrix_slots : demands.slots;
  bool const factored = demands.factors && fact.shape.rank > 1;
  std::int64_t all = (factored ? demands.matrix_slots : slots) * e.local().count();
  for (int dim = factored ? -2 : 0; dim < 0; ++dim) all += e.without(dim).local().count();
  return all;
}

template <class Parameters>
constexpr void add_parameters(memory& m, Parameters const& parameters, optimizer::demands const& demands,
                              setup const& s) {
  std::int64_t const element = shape::size_of(s.compute), master = shape::size_of(accumulate_type(s.compute));
  for (fact::parameter_fact const& fact : parameters) {
    std::int64_t const count = shard::entry{fact, s.mesh}.local().count() * fact.copies();
    m.parameters += count * element;
    if (element != master) m.masters += count * master;
    if (!fact.trained) continue;
    m.gradients += count * element;
    m.optimizer += state_elements(fact, demands, s.mesh) * fact.copies() * master;
  }
}

/// Sets the bytes of the state of a rank whose replicas keep shares (ZeRO).
constexpr void add_shared(memory& m, shared_buffers const& buffers, optimizer::demands const& demands, setup const& s) {
  std::int64_t const element = shape::size_of(s.compute), master = shape::size_of(accumulate_type(s.compute));
  std::int64_t const all = buffers.size(), trained = buffers.trained();
  bool const shares_values = buffers.zero.shares_values(), sums_in_backward = buffers.zero.sums_in_backward();
  // Masters of frozen parameters stay whole, unless the values are shared out.
  std::int64_t const whole = shares_values ? 0 : all - trained;
  m.parameters = (shares_values ? buffers.kept() : all) * element;
  m.gradients = (sums_in_backward ? buffers.kept_trained() : trained) * element;
  if (element != master) m.masters = (buffers.kept() + whole) * master;
  m.optimizer = demands.slots * buffers.kept_trained() * master;
  // Values are gathered in forward and backward, and gradients summed there or at the update.
  if (!shares_values || !sums_in_backward) m.shares_workspace = buffers.largest_share() * element;
  if (sums_in_backward && !shares_values)
    m.gradient_buckets = (buffers.most_waiting() + buffers.most_in_flight() + buffers.largest_share()) * element;
}

/// Sets the bytes of the state of the replica that keeps most of it, if matrices belong wholly to
/// replicas.
template <class Parameters>
constexpr void add_owned(memory& m, shared_buffers const& buffers, Parameters const& parameters,
                         optimizer::demands const& demands, setup const& s) {
  std::int64_t const element = shape::size_of(s.compute), master = shape::size_of(accumulate_type(s.compute));
  bool const shares_values = buffers.zero.shares_values();
  memory most;
  for (std::size_t replica = 0; replica < buffers.kept_by_replica.size(); ++replica) {
    shared_buffers::kept_elements const& kept = buffers.kept_by_replica[replica];
    std::int64_t const frozen = shares_values ? kept.frozen : buffers.size() - buffers.trained();
    std::int64_t state = 0, shared = kept.trained;  // elements
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!buffers.is_owned(i)) continue;
      std::int64_t const copies = buffers.copies_of(i, parameters[i], static_cast<int>(replica));
      state += copies * state_elements(parameters[i], demands, s.mesh);
      shared -= copies * shard::entry{parameters[i], s.mesh}.local().count();
    }
    state += shared * demands.slots;
    memory own = m;
    if (shares_values) own.parameters = (kept.trained + kept.frozen) * element;
    if (buffers.zero.sums_in_backward()) own.gradients = kept.trained * element;
    own.masters = element != master ? (kept.trained + frozen) * master : 0;
    own.optimizer = state * master;
    if (replica == 0 || own.persistent() > most.persistent()) most = own;
  }
  m = most;
}

}  // namespace redco::cost::detail

namespace redco::cost {

/// Returns the bytes that one rank holds. `demands` has the numbers of optimizer state tensors per
/// parameter.
///
/// The peak is in one of three phases. The loss holds everything that forward saves. Backward frees
/// activations layer by layer while gradients exist. The update works in place. Only the loss of a
/// language head is included; other losses are user code.
constexpr memory memory_of(simulation const& of, optimizer::demands const& demands) {
  setup const& s = of.run();
  memory m;
  detail::shared_buffers const buffers(of.program().parameters, s);
  if (buffers.parts.empty()) detail::add_parameters(m, of.program().parameters, demands, s);
  else detail::add_shared(m, buffers, demands, s);
  if (!buffers.places.empty()) detail::add_owned(m, buffers, of.program().parameters, demands, s);
  for (detail::placed_tensor const& t : of.tensors())
    if (t.lifetime == detail::placed_tensor::kind::batch)
      m.batches += detail::held_batch(t.all(), s) + detail::whole_batch(t.all(), s) * s.prefetch;
  m.loss = of.loss();
  m.loss_workspace = of.loss_workspace();
  m.gathered = of.gathered();
  if (m.shares_workspace > 0) m.shares_workspace += m.gathered;
  m.activations = of.activations();
  m.backward = of.backward();
  return m;
}

/// The bytes that forward saves for backward in one layer on one rank, summed over all repeated
/// blocks that contain the layer.
struct layer_activations {
  fact::path layer;
  std::int64_t bytes = 0;
  /// False if the layer does not declare what it saves (a user's opaque callable)
  bool counted = true;
};

/// Returns the bytes of saved activations for each layer, in the order of forward. Their sum is
/// `memory::activations`. Used by the report.
inline std::vector<layer_activations> activations_of(simulation const& s) {
  std::vector<layer_activations> all;
  for (std::size_t i = 0; i < s.tensors().size(); ++i) {
    fact::event const& e = s.program().events[i];
    std::int64_t const bytes = s.tensors()[i].saved_bytes();
    bool const counted = e.kind != fact::event_kind::uncounted;
    if (bytes == 0 && counted) continue;
    fact::path const& layer = s.program().layers[static_cast<std::size_t>(e.layer)];
    std::size_t at = 0;
    while (at < all.size() && !(all[at].layer == layer)) ++at;
    if (at == all.size()) all.push_back({layer});
    all[at].bytes += bytes;
    all[at].counted = all[at].counted && counted;
  }
  return all;
}

}  // namespace redco::cost
