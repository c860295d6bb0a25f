#pragma once

#include <redco/cost/detail/block_row.hpp>
#include <redco/cost/setup.hpp>
#include <redco/cost/simulation.hpp>

#include <redco/shard/entry.hpp>
#include <redco/fact/parameter_fact.hpp>

#include <cstddef>
#include <cstdint>

namespace redco::cost {

/// The memory traffic of one rank in one step, outside of matrix products. `tensors` and `bytes`
/// count the tensors that layers make: once for forward, once more for recomputation, and twice for
/// backward. `weight_bytes` are the bytes of weights that are read and of gradients that are
/// accumulated.
struct activity {
  std::int64_t tensors = 0;
  std::int64_t bytes = 0;
  std::int64_t weight_bytes = 0;

  friend constexpr bool operator==(activity const&, activity const&) = default;
};

constexpr activity activity_of(simulation const& of) {
  setup const& s = of.run();
  activity a;
  for (std::size_t i = 0; i < of.tensors().size(); ++i) {
    using kind = detail::placed_tensor::kind;
    detail::placed_tensor const& t = of.tensors()[i];
    bool const on_all_meshes = of.program().events[i].more_than == 0;
    if (!on_all_meshes || !(t.is_saved() || t.what == kind::loss || t.what == kind::loss_workspace)) continue;
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
