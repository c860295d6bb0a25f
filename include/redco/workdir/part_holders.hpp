#pragma once

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/xxh64.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace redco::workdir {

/// Who holds a part alike, and which of them reads it.
struct part_holders {
  std::vector<int> shards;  ///< ranks of the model group that hold the same box as this one, in every replica
  int shard = 0;            ///< of these, the one that reads
  int replica = 0;          ///< in this replica
};

/// Tells the parts of a state apart.
inline std::int64_t hash_of_part(std::string const& name, safetensors::box const& place) {
  return static_cast<std::int64_t>(
      safetensors::xxh64::of(name + safetensors::text_of(place.offset) + safetensors::text_of(place.shape)));
}

/// The holders of each part of the rank `shard` of `shards`, whose replica is one of `replicas`. `hashes` are those of
/// the parts of all shards, one shard's behind the other's. Holders take turns, so that the work is spread.
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
