#pragma once

#include <redco/safetensors/box.hpp>
#include <redco/safetensors/xxh64.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
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
/// rank 1, ..., as many per rank; 0 in place of a part. Pipeline stages hold parts of different
/// tensors. The holders take turns in reading, which balances the work.
inline std::vector<part_holders> holders_of(std::span<std::int64_t const> hashes, int shard, int shards, int replicas) {
  std::size_t const parts = hashes.size() / static_cast<std::size_t>(shards);
  auto const list = [&](int of) { return hashes.subspan(static_cast<std::size_t>(of) * parts, parts); };
  // Index of each part of the ranks whose lists differ from this rank's list
  std::vector<std::unordered_map<std::int64_t, std::size_t>> indices(static_cast<std::size_t>(shards));
  auto const index_in = [&](int other, std::size_t i) -> std::optional<std::size_t> {
    std::int64_t const hash = list(shard)[i];
    if (list(other)[i] == hash) return i;
    auto& known = indices[static_cast<std::size_t>(other)];
    if (known.empty())
      for (std::size_t k = 0; k < parts; ++k) known.try_emplace(list(other)[k], k);
    auto const found = known.find(hash);
    return found == known.end() ? std::nullopt : std::optional(found->second);
  };
  std::vector<part_holders> holders(parts);
  for (std::size_t i = 0; i < parts; ++i) {
    if (list(shard)[i] == 0) continue;
    part_holders& of = holders[i];
    std::size_t turn = 0;  // index of the part on its first holder, so that all holders agree
    for (int other = 0; other < shards; ++other) {
      auto const index = index_in(other, i);
      if (!index) continue;
      if (of.shards.empty()) turn = *index;
      of.shards.push_back(other);
    }
    of.replica = static_cast<int>(turn % static_cast<std::size_t>(replicas));
    of.shard = of.shards[turn / static_cast<std::size_t>(replicas) % of.shards.size()];
  }
  return holders;
}

}  // namespace redco::workdir
