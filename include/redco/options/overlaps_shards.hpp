#pragma once

#include <redco/shape/mesh.hpp>

#include <optional>

namespace redco::options {

/// Returns true if tensor-parallel messages overlap with matrix products. `overlap` decides; by
/// default they overlap if the shards of a model are on several hosts (`lie_apart`).
inline bool overlaps_shards(mesh const& on, bool lie_apart, std::optional<bool> overlap) {
  return on.tp > 1 && overlap.value_or(lie_apart);
}

}  // namespace redco::options
