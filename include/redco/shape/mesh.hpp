#pragma once

#include <redco/shape/axis.hpp>

#include <cstdint>
#include <limits>

namespace redco {

/// The ranks of a run as a grid: how many lie along each axis. A rank's number counts along `tp` first and along `pp` last, so
/// that the shards of one replica are neighbours. Axes are given by name: `mesh{.dp = 2, .tp = 4}`.
struct mesh {
  /// Keeps numbers without names, `mesh{2, 4}`, from compiling: nobody can tell which axes they mean.
  class by_name {
    constexpr by_name() = default;
    friend mesh;
    friend constexpr bool operator==(by_name, by_name) = default;
  };

  by_name only = {};
  int pp = 1;  ///< pipeline stages
  int dp = 1;  ///< data-parallel replicas
  int ep = 1;  ///< expert-parallel ranks
  int tp = 1;  ///< tensor-parallel shards

  constexpr int const& operator[](axis a) const {
    return a == axis::pp ? pp : a == axis::dp ? dp : a == axis::ep ? ep : tp;
  }
  constexpr int& operator[](axis a) { return a == axis::pp ? pp : a == axis::dp ? dp : a == axis::ep ? ep : tp; }

  /// The number of ranks of a group over these axes; at most the largest int.
  constexpr int size(axes over) const {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    std::int64_t product = 1;
    for (axis const a : all_axes) {
      if (over.has(a)) product *= (*this)[a];
      if (product > most) product = most;
    }
    return static_cast<int>(product);
  }
  constexpr int ranks() const { return size(every_axis); }

  /// The place of a rank among those of its group over these axes, counted as ranks are.
  constexpr int coordinate(int rank, axes over) const {
    int place = 0;
    int stride = ranks();
    for (axis const a : all_axes) {
      stride /= (*this)[a];
      if (over.has(a)) place = place * (*this)[a] + rank / stride % (*this)[a];
    }
    return place;
  }

  friend constexpr bool operator==(mesh const&, mesh const&) = default;
};

}  // namespace redco
