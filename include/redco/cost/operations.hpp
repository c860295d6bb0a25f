#pragma once

#include <redco/cost/detail/block_row.hpp>
#include <redco/cost/setup.hpp>
#include <redco/cost/simulation.hpp>
#include <redco/shard/entry.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/work.hpp>
#include <redco/shape/bytes.hpp>

#include <cstddef>
#include <cstdint>

namespace redco::cost {

/// The floating-point operations of matrix products in one step of one replica, summed over all its
/// shards and micro-batches.
struct operations {
  std::int64_t forward = 0;
  /// Operations of backward, for the gradients of both factors of every product
  std::int64_t backward = 0;
  std::int64_t again = 0;    ///< Operations of the second forward of recomputed blocks
  std::int64_t columns = 0;  ///< Operations of forward with column-parallel weights
  std::int64_t rows = 0;     ///< Operations of forward with row-parallel weights

  constexpr std::int64_t total() const {
    return shape::saturating_add(shape::saturating_add(forward, backward), again);
  }
  /// Returns the operations of the step divided by its number of tokens, or of examples if the
  /// sequence length is 1.
  constexpr double per_token(setup const& s) const {
    return static_cast<double>(total()) / static_cast<double>(s.load.batch * s.rank_load().sequence * s.micro_batches);
  }

  /// Adds the operations of another part of the model.
  constexpr operations& operator+=(operations const& more) {
    forward = shape::saturating_add(forward, more.forward);
    backward = shape::saturating_add(backward, more.backward);
    again = shape::saturating_add(again, more.again);
    columns = shape::saturating_add(columns, more.columns);
    rows = shape::saturating_add(rows, more.rows);
    return *this;
  }

  friend constexpr bool operator==(operations const&, operations const&) = default;
};

constexpr operations operations_of(fact::work const& forward, setup const& s) {
  auto const times = [](std::int64_t a, std::int64_t b) { return shape::saturating_multiply(a, b); };
  return {times(forward.all, s.micro_batches), times(times(forward.all, 2), s.micro_batches),
          times(forward.again, s.micro_batches), times(forward.columns, s.micro_batches),
          times(forward.rows, s.micro_batches)};
}

/// The memory traffic of one rank in one step, outside of matrix products. `tensors` and `bytes`
/// count the tensors that layers make: once for forward, once more for recomputation, and twice for
/// backward. `weight_bytes` are the bytes of weights that are read and of gradients that are
/// accumulated.
struct activity {
  std::int64_t tensors = 0;
  std::int64_t bytes = 0;
  std::int64_t weight_bytes = 0;

  /// Adds the memory traffic of another part of the model.
  constexpr activity& operator+=(activity const& more) {
    tensors += more.tensors;
    bytes += more.bytes;
    weight_bytes += more.weight_bytes;
    return *this;
  }

  friend constexpr bool operator==(activity const&, activity const&) = default;
};

constexpr activity activity_of(simulation const& of) {
  setup const& s = of.run();
  activity a;
  for (std::size_t i = 0; i < of.tensors().size(); ++i) {
    using kind = detail::placed_tensor::kind;
    detail::placed_tensor const& t = of.tensors()[i];
    bool const on_all_meshes = of.program().events[i].min_shards_exclusive == 0;
    if (!on_all_meshes || !(t.is_saved() || t.lifetime == kind::loss || t.lifetime == kind::loss_workspace)) continue;
    std::int64_t const times = s.micro_batches * (3 * t.copies + t.copies_again());
    a.tensors += times;
    a.bytes += times * t.bytes;
  }
  for (fact::parameter_fact const& fact : of.program().parameters) {
    std::int64_t times = 3 * fact.copies();
    if (fact.blocks.depth > 0)
      times += fact.copies() / fact.blocks[0].count() * detail::count_again(fact.blocks[0], s.recompute);
    a.weight_bytes += s.micro_batches * times * shard::entry{fact, s.mesh}.local().count() * shape::size_of(s.compute);
  }
  return a;
}

}  // namespace redco::cost
