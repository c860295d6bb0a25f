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

namespace detail {

/// The purpose of a message of a pass of the model.
constexpr messages::purpose purpose_of(message_fact const& fact) {
  if (fact.parts > 0) return messages::shared_gradients;
  if (fact.over_replicas) return messages::statistics;
  if (fact.kind == width_kind::accumulate && !fact.backward) return messages::loss;
  auto const first = fact.backward ? messages::backward : messages::forward;
  int const place = fact.what == collective::all_gather ? 1 : fact.what == collective::reduce_scatter ? 2 : 0;
  return static_cast<messages::purpose>(static_cast<int>(first) + place);
}

/// The numbers of a message: tokens that are joined or scattered are padded to runs of one length.
constexpr std::int64_t numbers_of(message_fact const& fact, int ranks) {
  extents shape = fact.shape;
  if (fact.what != collective::all_reduce && shape.rank > 1) shape[-2] = (shape[-2] + ranks - 1) / ranks * ranks;
  return shape.count();
}

}  // namespace detail

/// The messages of one step from a model's facts.
template <class Facts>
constexpr messages messages_of(Facts const& facts, setup const& s) {
  int const dp = s.mesh.dp, tp = s.mesh.tp;
  messages m;
  m.all[messages::forward] = {{}, "forward activations", "tp", collective::all_reduce, tp};
  m.all[messages::forward_gather] = {{}, "forward, tokens joined", "tp", collective::all_gather, tp};
  m.all[messages::forward_scatter] = {{}, "forward, tokens summed", "tp", collective::reduce_scatter, tp};
  m.all[messages::backward] = {{}, "backward activations", "tp", collective::all_reduce, tp};
  m.all[messages::backward_gather] = {{}, "backward, tokens joined", "tp", collective::all_gather, tp};
  m.all[messages::backward_scatter] = {{}, "backward, tokens summed", "tp", collective::reduce_scatter, tp};
  m.all[messages::loss] = {{}, "loss over the vocabulary", "tp", collective::all_reduce, tp};
  m.all[messages::statistics] = {{}, "batch norm statistics", "dp", collective::all_reduce, dp};
  m.all[messages::gradients] = {{}, "gradients", "dp", collective::all_reduce, dp};
  m.all[messages::shared_gradients] = {{}, "gradients of shared parts", "tp", collective::all_reduce, tp};
  m.all[messages::loss_total] = {{}, "loss and count", "world", collective::all_reduce, s.mesh.ranks()};
  m.all[messages::norm_of_gradients] = {{}, "gradient norm", "tp", collective::all_reduce, tp};

  for (message_fact const& fact : facts.messages) {
    if (fact.parts > 0 && tp <= fact.parts) continue;
    // A block that is run again repeats its forward messages.
    std::int64_t const runs = s.recompute && fact.in_block && !fact.backward ? 2 : 1;
    m.all[detail::purpose_of(fact)].add(s.micro_batches * runs * fact.copies,
                                        detail::numbers_of(fact, tp) * size_of(fact.kind, s.compute));
  }
  std::int64_t flat = 0;
  for (parameter_fact const& fact : facts.parameters) {
    if (!fact.trained) continue;
    flat += entry{fact, s.mesh}.local().count() * size_of(s.compute) * fact.copies();
  }
  m.all[messages::gradients].add(1, flat);
  m.all[messages::loss_total].add(1, loss_total_numbers * size_of(dtype::f64));
  m.all[messages::norm_of_gradients].add(1, size_of(dtype::f64));
  return m;
}

}  // namespace redco
