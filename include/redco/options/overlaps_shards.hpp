#pragma once

#include <redco/shape/mesh.hpp>

#include <optional>

namespace redco::options {

/// Returns true if messages between tensor-parallel shards overlap with matrix products. `overlap`:
/// the user's choice. If empty, returns true if the shards of a replica are on several hosts
/// (`lie_apart`).
inline bool overlaps_shards(mesh const& on, bool lie_apart, std::optional<bool> overlap) {
  return on.tp > 1 && overlap.value_or(lie_apart);
}

}  // namespace redco::options
