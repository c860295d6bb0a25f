#pragma once

#include <redco/cost/local_extents.hpp>
#include <redco/cost/memory.hpp>
#include <redco/cost/setup.hpp>

#include <redco/layer/activation_fact.hpp>
#include <redco/shard/entry.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace redco {

namespace detail {

/// The part of a path that names its outermost repeat: "h.*" of "h.*.attn"; empty outside.
constexpr std::string_view outer_block(path const& layer) {
  std::string_view const name = layer.view();
  std::size_t const star = name.find('*');
  return star == std::string_view::npos ? std::string_view() : name.substr(0, star + 1);
}

/// Sums neighbouring numbers of one key and remembers the largest sum.
struct largest_run {
  std::string_view key;
  std::int64_t run = 0, most = 0;

  constexpr void add(std::string_view of, std::int64_t bytes) {
    run = of == key ? run + bytes : bytes;
    key = of;
    most = std::max(most, run);
  }
};

template <class Parameters>
constexpr std::int64_t largest_block_parameters(Parameters const& parameters, int shards, std::int64_t element) {
  largest_run largest;
  for (parameter_fact const& fact : parameters) {
    std::string_view const block = outer_block(fact.name);
    if (!block.empty()) largest.add(block, entry_of(fact, shards).local().count() * element * fact.copies() / fact.blocks[0]);
  }
  return largest.most;
}

template <class Parameters>
constexpr void add_parameters(memory& m, Parameters const& parameters, int slots, setup const& s) {
  std::int64_t const element = size_of(s.compute), master = size_of(accumulate_type(s.compute));
  for (parameter_fact const& fact : parameters) {
    entry const e = entry_of(fact, s.mesh.mp);
    std::int64_t const one = e.local().count(), count = one * fact.copies();
    m.parameters += count * element;
    m.gradients += count * element;
    if (element != master) m.masters += count * master;
    m.optimizer += slots * count * master;
    if (e.sharers > 1) m.shared_gradients = std::max(m.shared_gradients, one * (s.mesh.mp / e.sharers) * element);
  }
}

}  // namespace detail

/// Bytes of one rank from a model's facts. `slots`: state numbers that the optimizer keeps for each parameter.
///
/// The peak is the largest of three moments: while the loss is computed, everything that forward keeps is there; at the
/// start of backward it still is, beside the gradients in flight (largest layer, and under recomputation one block again
/// with the gradients of its parameters); the update works in place. A loss other than a language head's is the user's own and is
/// not counted.
template <class Facts>
constexpr memory memory_of(Facts const& facts, int slots, setup const& s) {
  memory m;
  int const shards = s.mesh.mp;
  detail::add_parameters(m, facts.parameters, slots, s);

  detail::largest_run block, layer;
  std::int64_t batch = 0, carried = 0;
  for (saved_fact const& fact : facts.saved) {
    std::int64_t const one = local_bytes(fact, shards, s.compute), all = one * fact.copies;
    switch (fact.role) {
      case saved_role::stored:
      case saved_role::entry:
        if (!s.recompute || !fact.in_block) {
          m.activations += all;
        } else if (fact.role == saved_role::stored) {
          block.add(detail::outer_block(fact.layer), all / fact.blocks);
        }
        break;
      case saved_role::batch_when_whole:
        if (shards > 1) m.activations += all;
        batch += all;
        break;
      case saved_role::batch: batch += all; break;
      case saved_role::block_input:
        if (s.recompute) m.activations += all;
        break;
      case saved_role::workspace: layer.add(fact.layer.view(), one); break;
      case saved_role::carried: carried = std::max(carried, one); break;
      case saved_role::loss: m.loss += all; break;
      case saved_role::loss_workspace:
        // Sums in another type than the gradient are converted at the end.
        if (fact.kind != width_kind::accumulate || fact.shape.rank < 2 || s.compute == dtype::bf16) m.loss_workspace += all;
        break;
    }
  }
  m.batches = batch * (1 + s.prefetch);
  m.backward_workspace = layer.most + carried;
  if (s.recompute)
    m.recomputed_block =
        block.most + detail::largest_block_parameters(facts.parameters, shards, size_of(s.compute));
  return m;
}

}  // namespace redco
