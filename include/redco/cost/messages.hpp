#pragma once

#include <redco/cost/local_extents.hpp>
#include <redco/cost/message_total.hpp>
#include <redco/cost/setup.hpp>

#include <redco/shard/entry.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace redco {

/// The messages of one step, by purpose: `messages[purpose]`.
struct messages {
  enum purpose : std::size_t { forward, backward, loss, gradients, shared_gradients, loss_total, gradient_norm, purposes };

  std::array<message_total, purposes> all{};

  constexpr message_total const& operator[](purpose p) const { return all[p]; }
  constexpr auto begin() const { return all.begin(); }
  constexpr auto end() const { return all.end(); }

  constexpr std::int64_t calls() const {
    std::int64_t sum = 0;
    for (message_total const& one : all) sum += one.calls;
    return sum;
  }
  constexpr std::int64_t wire_bytes() const {
    std::int64_t sum = 0;
    for (message_total const& one : all) sum += one.wire_bytes;
    return sum;
  }

  friend constexpr bool operator==(messages const&, messages const&) = default;
};

/// A loss has at most so many terms.
inline constexpr std::int64_t most_loss_terms = 16;

/// The numbers that a step sums over all ranks for its loss: per term its sum times factor, its sum, its count; one flag.
inline constexpr std::int64_t loss_total_numbers = 3 * most_loss_terms + 1;

/// The messages of one step from a model's facts. All of them are all-reduces.
template <class Facts>
constexpr messages messages_of(Facts const& facts, setup const& s) {
  int const dp = s.mesh.dp, mp = s.mesh.mp;
  messages m;
  m.all[messages::forward] = {"forward activations", "mp", collective::all_reduce, mp, 0, 0, 0};
  m.all[messages::backward] = {"backward activations", "mp", collective::all_reduce, mp, 0, 0, 0};
  m.all[messages::loss] = {"loss over the vocabulary", "mp", collective::all_reduce, mp, 0, 0, 0};
  m.all[messages::gradients] = {"gradients", "dp", collective::all_reduce, dp, 0, 0, 0};
  m.all[messages::shared_gradients] = {"gradients of shared parts", "mp", collective::all_reduce, mp, 0, 0, 0};
  m.all[messages::loss_total] = {"loss and count", "world", collective::all_reduce, s.mesh.ranks(), 0, 0, 0};
  m.all[messages::gradient_norm] = {"gradient norm", "mp", collective::all_reduce, mp, 0, 0, 0};

  for (message_fact const& fact : facts.messages) {
    // A block that is run again repeats its forward messages.
    std::int64_t const runs = s.recompute && fact.in_block && !fact.backward ? 2 : 1;
    auto const p = fact.backward                              ? messages::backward
                   : fact.kind == width_kind::accumulate ? messages::loss
                                                              : messages::forward;
    m.all[p].add(s.micro_batches * runs * fact.copies, fact.shape.count() * size_of(fact.kind, s.compute));
  }
  std::int64_t flat = 0;
  for (parameter_fact const& fact : facts.parameters) {
    if (!fact.trained) continue;
    entry const e = entry_of(fact, mp);
    std::int64_t const bytes = e.local().count() * size_of(s.compute);
    flat += bytes * fact.copies();
    if (e.sharers > 1) m.all[messages::shared_gradients].add(fact.copies(), bytes * (mp / e.sharers));
  }
  m.all[messages::gradients].add(1, flat);
  m.all[messages::loss_total].add(1, loss_total_numbers * size_of(dtype::f64));
  m.all[messages::gradient_norm].add(1, size_of(dtype::f64));
  return m;
}

}  // namespace redco
