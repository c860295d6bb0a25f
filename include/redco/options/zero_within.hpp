#pragma once

#include <redco/shape/axis.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

namespace redco::options {

/// A mesh whose replicas share out state (ZeRO) in groups, or all together.
struct grouped_mesh {
  /// Mesh of the run. With groups, dp is the number of groups, and ds times ep the number of
  /// replicas of a group.
  redco::mesh mesh;
  /// Mesh axes over whose ranks state is shared out
  shape::axes shared_over = shape::token_axes;

  friend constexpr bool operator==(grouped_mesh const&, grouped_mesh const&) = default;
};

/// Returns the number of replicas of the mesh `on` that share state out among each other with
/// --zero-within `within`; 0 if the text names no such number. `machines`: number of machines, each
/// with an equal number of consecutive ranks.
inline int replicas_of_group(std::string_view within, mesh const& on, int machines) {
  if (within == "run") return on.size(shape::batch_axes);
  if (within == "host") {
    int const of_machine = on.ranks() % machines == 0 ? on.ranks() / machines : 0;
    int const stage = on.ranks() / on.pp, of_stage = std::min(of_machine, stage);
    if (of_machine > stage && of_machine % stage != 0) return 0;  // a machine has a part of a stage
    int const of_replica = on.size(shape::axis::cp | shape::axis::tp);
    return of_stage % of_replica == 0 ? of_stage / of_replica : 0;
  }
  int sharing = 0;
  auto const [end, failure] = std::from_chars(within.data(), within.data() + within.size(), sharing);
  return failure == std::errc() && end == within.data() + within.size() ? std::max(sharing, 0) : 0;
}

/// Returns true if the replicas of the mesh `on` divide into groups of `sharing`, at least two,
/// each with all ranks along ep.
inline bool divides_into_groups(mesh const& on, int sharing) {
  return sharing >= 2 && on.size(shape::batch_axes) % sharing == 0 && sharing % on.ep == 0;
}

/// Returns the mesh `on` with the groups of --zero-within. `within`: "run" (all replicas are one
/// group), "host" (the replicas of one machine are a group) or the number of replicas of a group.
/// `machines`: number of machines, each with an equal number of consecutive ranks. `zero`: level of
/// ZeRO.
///
/// Throws `error` with exit code 64 for another text, without ZeRO, and if the replicas do not
/// divide into such groups of at least two. Throws it also if groups would cut the ranks along ep.
inline grouped_mesh mesh_with_shares(std::string_view within, mesh const& on, int machines, int zero) {
  if (within == "run") return {on};
  auto const refuse = [&](std::string const& why) {
    throw error(exit_code::usage, "--zero-within " + std::string(within) + why);
  };
  if (zero == 0) refuse(" without --zero: each replica keeps all state; give --zero 1, 2 or 3");
  int const replicas = on.size(shape::batch_axes), sharing = replicas_of_group(within, on, machines);
  if (within != "host" && sharing < 1)
    refuse(": give run (all replicas share), host (those of one machine), or a number of replicas");
  if (!divides_into_groups(on, sharing)) {
    std::string legal;
    for (int n = 2; n <= replicas; ++n)
      if (divides_into_groups(on, n)) legal += (legal.empty() ? "" : ", ") + std::to_string(n);
    refuse(": the " + std::to_string(replicas) + " replicas on " + std::to_string(machines) +
           (machines == 1 ? " machine" : " machines") + " do not divide into such groups of at least 2" +
           (on.ep > 1 ? ", each with all " + std::to_string(on.ep) + " ranks along ep" : "") + "; give one of " +
           (legal.empty() ? "run" : legal));
  }
  if (sharing == replicas) return {on};
  grouped_mesh groups{on, shape::axis::ds | shape::axis::ep};
  groups.mesh.dp = replicas / sharing;
  groups.mesh.ds = sharing / on.ep;
  return groups;
}

}  // namespace redco::options
