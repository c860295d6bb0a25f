#pragma once

#include <redco/shape/mesh.hpp>

#include <optional>

namespace redco::options {

/// Whether what the shards of a run exchange passes beside their products: as asked for, by default where they lie on several hosts.
inline bool overlaps_shards(mesh const& on, bool lie_apart, std::optional<bool> overlap) {
  return on.tp > 1 && overlap.value_or(lie_apart);
}

}  // namespace redco::options
