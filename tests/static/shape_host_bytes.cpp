// Compares the bytes between hosts with a plain enumeration. tests/shape enumerates the hosts of
// the members of groups.
#include <redco/shape/hosts.hpp>

#include <array>
#include <cstdint>

namespace {

using redco::shape::axis, redco::shape::collective, redco::shape::host_map, redco::shape::host_share;

// Three replicas of two shards on two hosts: one replica is on both hosts. The replicas of each
// shard are two on one host and one on the other.
constexpr host_map uneven{{.dp = 3, .tp = 2}, 2};
static_assert(uneven.share(1, axis::tp) == host_share{2, 1, 2} && uneven.share(3, axis::tp) == host_share{2, 2, 1});
static_assert(uneven.share(0, axis::dp) == host_share{3, 2, 2} && uneven.share(1, axis::dp) == host_share{3, 2, 1});
static_assert(uneven.members_on(0, 5, axis::tp) == 0 && uneven.members_on(1, 5, axis::tp) == 2);

struct traffic_by_host {
  std::array<std::int64_t, 3> gather{}, scatter{}, exchange{};
};
/// Returns the bytes between hosts, message by message. `holds[i]` is the number of members on host
/// i.
constexpr traffic_by_host enumerated(std::array<int, 3> const& holds, std::int64_t part) {
  traffic_by_host sent;
  for (std::size_t from = 0; from < 3; ++from)
    for (std::size_t to = 0; to < 3; ++to) {
      if (from == to || holds[from] == 0 || holds[to] == 0) continue;
      sent.gather[from] += holds[from] * part;  // its members' parts, once to each host
      sent.scatter[from] += holds[to] * part;   // one sum for each member there
      // One piece from each member to each member
      sent.exchange[from] += holds[from] * holds[to] * part;
    }
  return sent;
}
constexpr bool bytes_agree(std::array<int, 3> const& holds, std::int64_t part) {
  traffic_by_host const sent = enumerated(holds, part);
  int members = 0, hosts = 0;
  for (int const k : holds) members += k, hosts += k > 0 ? 1 : 0;
  std::int64_t const whole = members * part;
  for (std::size_t i = 0; i < 3; ++i) {
    host_share const on{members, hosts, holds[i]};
    if (host_bytes(collective::all_gather, whole, on) != sent.gather[i]) return false;
    if (host_bytes(collective::reduce_scatter, whole, on) != sent.scatter[i]) return false;
    if (host_bytes(collective::all_to_all, whole, on) != sent.exchange[i]) return false;
  }
  return true;
}
static_assert(bytes_agree({3, 1, 0}, 7) && bytes_agree({2, 2, 2}, 5) && bytes_agree({4, 0, 0}, 3));
static_assert(bytes_agree({1, 5, 2}, 11) && bytes_agree({1, 1, 1}, 1) && bytes_agree({0, 1, 1}, 9));

constexpr host_share two_of_three{3, 2, 2};
static_assert(host_bytes(collective::all_reduce, 101, two_of_three) == 101);
static_assert(host_bytes(collective::all_reduce, 100, {7, 3, 4}) == 134);  // 133.3, rounded up
static_assert(host_bytes(collective::all_reduce, 100, {4, 1, 4}) == 0);
static_assert(host_bytes(collective::all_reduce, 100, {4, 2, 0}) == 0);
static_assert(host_bytes(collective::broadcast, 7, {9, 4, 2}, true) == 21);
static_assert(host_bytes(collective::broadcast, 7, {9, 4, 2}, false) == 0);
static_assert(host_bytes(collective::send, 7, {9, 4, 2}, true) == 7);
static_assert(host_bytes(collective::send, 7, {9, 4, 2}, false) == 0);
static_assert(host_bytes(collective::recv, 7, {9, 4, 2}) == 0 && host_bytes(collective::barrier, 0, {9, 4, 2}) == 0);

// With one member on each host, the bytes are those of a ring of ranks. Broadcast is the exception:
// a ring passes the tensor on, a host sends it to each host.
constexpr bool single_members_are_a_ring() {
  for (int n = 1; n < 9; ++n)
    for (std::int64_t payload = 0; payload < 60; payload += n)
      for (collective const kind : {collective::all_reduce, collective::all_gather, collective::reduce_scatter,
                                    collective::all_to_all, collective::send, collective::recv, collective::barrier})
        if (host_bytes(kind, payload, {n, n, 1}) != redco::shape::ring_bytes(kind, payload, n)) return false;
  return true;
}
static_assert(single_members_are_a_ring());
static_assert(host_bytes(collective::broadcast, 5, {4, 4, 1}) == 15 &&
              redco::shape::ring_bytes(collective::broadcast, 5, 4) == 5);

}  // namespace
