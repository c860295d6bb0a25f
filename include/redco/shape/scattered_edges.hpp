#pragma once

#include <redco/shape/hosts.hpp>
#include <redco/shape/mesh.hpp>

#include <cstdint>

namespace redco::shape {

/// Least number of bytes of a tensor that is worth scattering between pipeline stages. 64 KiB take
/// 50 us at 10 Gbit/s, and a gather between threads of one machine takes a few us.
inline constexpr std::int64_t least_scattered_bytes = 64 * 1024;

/// Returns true if a tensor that is replicated over tp passes in parts between the pipeline stages
/// `from` and `to`, in either direction. Each rank then sends 1/tp of the tensor to its peer, and
/// the ranks of the receiving replica gather the parts (Narayanan et al. 2021, section 4.1). The
/// tensor has `count` elements of `bytes` bytes together.
///
/// `machines` maps ranks to machines. Parts are cheaper if the stages are on different machines and
/// each replica of a stage is on one machine. Fewer bytes then pass the network, and the gather
/// stays inside a machine. A tensor that does not divide into equal parts passes whole.
constexpr bool is_scattered(host_map const& machines, int from, int to, std::int64_t count, std::int64_t bytes) {
  mesh const& on = machines.mesh;
  if (machines.hosts == 1 || on.tp == 1 || count % on.tp != 0 || bytes < least_scattered_bytes) return false;
  int const ranks = on.ranks() / on.pp;
  auto const host = [&](int stage, int rank) { return machines.host_of(stage * ranks + rank); };
  for (int first = 0; first < ranks; first += on.tp) {
    int const last = first + on.tp - 1;
    if (host(from, first) != host(from, last) || host(to, first) != host(to, last)) return false;
    if (host(from, first) == host(to, first)) return false;
  }
  return true;
}

}  // namespace redco::shape
