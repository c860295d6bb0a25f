#pragma once

#include <redco/options/zero_within.hpp>
#include <redco/log/text.hpp>
#include <redco/shape/hosts.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/zero.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

namespace redco::options {

/// Returns true if messages between tensor-parallel shards overlap with matrix products. `overlap`:
/// the user's choice. If empty, returns true if the shards of a replica are on several hosts
/// (`lie_apart`).
inline bool overlaps_shards(mesh const& on, bool lie_apart, std::optional<bool> overlap) {
  return on.tp > 1 && overlap.value_or(lie_apart);
}

/// Returns true if messages between replicas overlap with computation. `overlap`: the user's
/// choice; if empty, true if replicas are in several of the `hosts` processes.
inline bool overlaps_replicas(mesh const& on, int hosts, std::optional<bool> overlap) {
  return overlap.value_or(shape::host_map{on, hosts}.parts(shape::token_axes));
}

/// Returns the number of bytes of gradients, a multiple of 8, that a run sums at once during
/// backward. Returns 0 if all gradients are summed after backward. `overlap`: the user's choice; if
/// empty, true if replicas are in several of the `hosts` processes. `zero`: level of ZeRO; replicas
/// that keep shares sum after pipeline stages have exchanged gradients, and from level 2 on, each
/// backward sums its gradients. `owner`: at level 1, replicas that own whole matrices sum after
/// backward.
/// Throws `error` with exit code 64 unless `mebibytes` is in (0, 1e6], or if the user's choice is
/// impossible.
inline std::int64_t gradient_bucket(mesh const& on, int hosts, std::optional<bool> overlap, double mebibytes,
                                    int zero = 0, shape::zero_owner owner = shape::zero_owner::element) {
  if (!(mebibytes > 0 && mebibytes <= 1e6))
    throw error(exit_code::usage,
                "--gradient-bucket " + log::short_text(mebibytes, 4) + ": give MiB, more than 0 and at most 1e6");
  bool const sums_in_backward = shape::zero{zero}.on(on).sums_in_backward();
  if (on.size(shape::token_axes) == 1 || !(sums_in_backward || overlaps_replicas(on, hosts, overlap))) return 0;
  if (zero > 0 && on.pp > 1) {
    if (!overlap) return 0;
    throw error(exit_code::usage,
                "--overlap with --zero and pipeline stages: stages exchange the gradients of shared parameters before "
                "the replicas sum their shares; leave --overlap out");
  }
  if (owner == shape::zero_owner::whole && !sums_in_backward) {
    if (!overlap) return 0;
    throw error(
        exit_code::usage,
        "--overlap with --zero-owner whole and --zero 1: the gradients of a replica's matrices are summed at once, "
        "after backward; leave --overlap out, or give --zero 2");
  }
  return std::max<std::int64_t>(1, std::llround(mebibytes * 1024 * 1024 / 8)) * 8;
}

/// Returns what the replicas of a run share out. `asked`: level, owner and kept blocks; the other
/// parameters decide the other members. Throws the errors of gradient_bucket().
inline shape::zero zero_of(shape::zero asked, grouped_mesh const& on, int hosts, std::optional<bool> overlap,
                           double mebibytes) {
  asked.bucket = gradient_bucket(on.mesh, hosts, overlap, mebibytes, asked.level, asked.owner);
  asked.overlaps = overlaps_replicas(on.mesh, hosts, overlap);
  asked.shared_over = on.shared_over;
  return asked;
}

}  // namespace redco::options
