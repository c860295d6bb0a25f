#pragma once

#include <redco/shape/axis.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>

namespace redco::shape {

/// The part of the training state that the replicas of a run share out among each other (ZeRO).
struct zero {
  static constexpr int most_level = 1;

  /// 0: each replica keeps all. 1: each keeps a share of the f32 master parameters and the
  /// optimizer's state, updates these parameters only, and gathers the values of the others.
  int level = 0;
  /// Bytes of gradients that one sum reduces during backward; 0: one sum after backward
  std::int64_t bucket = 0;

  /// Returns the ZeRO of a run on the mesh `ranks`. With one replica, nothing can be shared out.
  constexpr zero on(mesh const& ranks) const { return ranks.size(batch_axes) > 1 ? *this : zero{}; }

  friend constexpr bool operator==(zero const&, zero const&) = default;
};

/// Throws `error` with exit code 64 if ZeRO has no such level, or if redco does not run it.
constexpr void check_zero(int level) {
  if (level >= 0 && level <= zero::most_level) return;
  throw error(exit_code::usage, "--zero " + std::to_string(level) +
                                    (level == 2 || level == 3 ? " is not supported yet" : " is no level of ZeRO") +
                                    ": give 0 (each replica keeps all state) or 1 (each keeps a share of the "
                                    "optimizer's state)");
}

}  // namespace redco::shape
