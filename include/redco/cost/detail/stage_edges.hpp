#pragma once

#include <redco/cost/local_extents.hpp>
#include <redco/cost/setup.hpp>
#include <redco/fact/event.hpp>
#include <redco/fact/program.hpp>
#include <redco/shape/hosts.hpp>
#include <redco/shape/scattered_edges.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::cost::detail {

/// A tensor that passes the cut before or after a chunk of a pipeline stage: hidden states, or the
/// encoder's states. In backward, its gradient passes the cut in the other direction.
struct edge_tensor {
  int id = 0;  ///< Number of the activation
  bool is_received = false;
  int other = 0;              ///< Stage of the chunk at the other side of the cut
  std::int64_t bytes = 0;     ///< Bytes of the tensor on one rank
  std::int64_t message = 0;   ///< Bytes that a rank sends: 1/tp of the tensor if it passes in parts
  bool is_scattered = false;  ///< True if the tensor passes in parts, which the receivers gather
};

/// Returns the tensors that pass the cuts before and after the chunk `chunk`, whose program is
/// `part`. `stage_of` has the stage of each chunk.
constexpr std::vector<edge_tensor> edges_of(fact::program const& part, setup const& s, std::vector<int> const& stage_of,
                                            int chunk) {
  shape::host_map const machines{s.mesh, s.machines > 0 ? s.machines : s.hosts};
  std::vector<edge_tensor> edges;
  for (fact::event const& e : part.events) {
    if (e.kind != fact::event_kind::receive && e.kind != fact::event_kind::send) continue;
    edge_tensor one{e.tensor.id, e.kind == fact::event_kind::receive};
    one.other = stage_of[static_cast<std::size_t>(one.is_received ? chunk - 1 : chunk + 1)];
    one.bytes = local_bytes(e.tensor, e.width, s.mesh.tp, s.compute);
    one.is_scattered =
        e.tensor.split_dim < 0 && shape::is_scattered(machines, stage_of[static_cast<std::size_t>(chunk)], one.other,
                                                      e.tensor.shape.count(), one.bytes);
    one.message = one.is_scattered ? one.bytes / s.mesh.tp : one.bytes;
    edges.push_back(one);
  }
  return edges;
}

}  // namespace redco::cost::detail
