#pragma once

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/xxh64.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace redco::workdir {

/// The ranks that hold equal copies of one part of a tensor, and the rank among them that reads the
/// part from a checkpoint.
struct part_holders {
  /// Indices, within a replica, of the ranks that hold the same box (range of elements) as this
  /// rank. Equal in every replica.
  std::vector<int> shards;
  int shard = 0;    ///< index, within its replica, of the rank that reads the part
  int replica = 0;  ///< index of the replica in which a rank reads the part
};

/// Returns a hash of the tensor name `name` and `box` (offsets and sizes). Ranks compare
/// hashes to find the holders of equal parts.
inline std::int64_t hash_of_part(std::string const& name, safetensors::box const& box) {
  return static_cast<std::int64_t>(
      safetensors::xxh64::of(name + safetensors::text_of(box.offset) + safetensors::text_of(box.shape)));
}

/// Returns, for each part of a tensor that rank `shard` of a replica holds, the ranks with equal
/// parts. `shards`: ranks per replica. `hashes`: hash_of_part() of all parts of rank 0, then of
/// rank 1, ... The holders take turns in reading, which balances the work.
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
