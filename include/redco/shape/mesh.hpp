#pragma once

namespace redco {

/// The ranks of a run as a grid: `dp` data-parallel replicas of a model cut into `tp` shards.
/// Rank r sits at (r / tp, r % tp), so that the shards of one replica are neighbours.
struct mesh {
  int dp = 1;
  int tp = 1;

  constexpr int ranks() const { return dp * tp; }
  constexpr int dp_index(int rank) const { return rank / tp; }
  constexpr int tp_index(int rank) const { return rank % tp; }
  friend constexpr bool operator==(mesh const&, mesh const&) = default;
};

}  // namespace redco
