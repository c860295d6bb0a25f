#pragma once

namespace redco {

/// The ranks of a run as a grid: `dp` data-parallel replicas of a model cut into `mp` shards.
/// Rank r sits at (r / mp, r % mp), so that the shards of one replica are neighbours.
struct mesh {
  int dp = 1;
  int mp = 1;

  constexpr int ranks() const { return dp * mp; }
  constexpr int dp_index(int rank) const { return rank / mp; }
  constexpr int mp_index(int rank) const { return rank % mp; }
  friend constexpr bool operator==(mesh const&, mesh const&) = default;
};

}  // namespace redco
