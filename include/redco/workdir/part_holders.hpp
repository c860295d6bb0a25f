#pragma once

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/xxh64.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace redco::workdir {

/// A description of the ranks that hold the same part of a state, and of the rank among them that
/// reads the part.
struct part_holders {
  /// Ranks of the model group that hold the same box (range of elements) as this rank, in every
  /// replica.
  std::vector<int> shards;
  int shard = 0;    ///< rank among `shards` that reads the part
  int replica = 0;  ///< index of the replica that reads the part
};

/// Returns a hash that identifies the part `place` (a box of elements) of the tensor `name`.
inline std::int64_t hash_of_part(std::string const& name, safetensors::box const& place) {
  return static_cast<std::int64_t>(
      safetensors::xxh64::of(name + safetensors::text_of(place.offset) + safetensors::text_of(place.shape)));
}

/// Returns the holders of each part of rank `shard`, one of `shards` ranks in each of `replicas`
/// replicas. `hashes` has the hashes of all shards' parts, shard by shard. Holders take turns in
/// reading, so that the work is spread.
inline std::vector<part_holders> holders_of(std::span<std::int64_t const> hashes, int shard, int shards, int replicas) {
  std::size_t const parts = hashes.size() / static_cast<std::size_t>(shards);
  auto const hash = [&](int of, std::size_t part) { return hashes[static_cast<std::size_t>(of) * parts + part]; };
  std::vector<part_holders> holders(parts);
  for (std::size_t i = 0; i < parts; ++i) {
    part_holders& of = holders[i];
    for (int other = 0; other < shards; ++other)
      if (hash(other, i) == hash(shard, i)) of.shards.push_back(other);
    of.replica = static_cast<int>(i % static_cast<std::size_t>(replicas));
    of.shard = of.shards[i / static_cast<std::size_t>(replicas) % of.shards.size()];
  }
  return holders;
}

}  // namespace redco::workdir
