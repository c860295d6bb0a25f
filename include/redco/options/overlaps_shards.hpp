#pragma once

#include <redco/shape/host_map.hpp>
#include <redco/shape/mesh.hpp>

#include <optional>

namespace redco::options {

/// Whether what the shards of a run exchange passes beside their products: as asked for, by default where shards
/// lie on several of `hosts` hosts (processes), which divide the ranks.
inline bool overlaps_shards(mesh const& on, int hosts, std::optional<bool> overlap) {
  return on.tp > 1 && overlap.value_or(host_map{on, hosts}.parts(axis::tp));
}

}  // namespace redco::options
