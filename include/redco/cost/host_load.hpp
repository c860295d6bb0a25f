#pragma once

#include <redco/shape/axis.hpp>
#include <redco/shape/collective.hpp>
#include <redco/shape/hosts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::cost {

/// The distribution of groups of ranks over hosts, for all groups over some mesh axes. Computes the
/// bytes that the busiest host sends if all groups communicate at once.
class host_load {
 public:
  constexpr host_load(shape::host_map const& map, shape::axes over) : here_(map.mesh.size(over)) {
    if (map.hosts == 1) return;
    here_ = 1;
    shape::axes others;
    for (shape::axis const a : shape::all_axes)
      if (!over.has(a)) others = others | a;
    int const members = map.mesh.size(over);
    std::vector<int> hosts;  // number of hosts of each group
    for (int group = map.mesh.size(others); group > 0; --group) hosts.push_back(0);
    auto const each_group = [&](int host, auto const& visit) {
      int const begin = map.first_of(host);
      // First member of the group on this host
      for (int rank = begin; rank < map.first_of(host + 1); ++rank)
        if (map.members_below(rank, over, rank) == map.members_below(rank, over, begin))
          visit(hosts[static_cast<std::size_t>(map.mesh.coordinate(rank, others))], rank);
    };
    for (int host = 0; host < map.hosts; ++host) each_group(host, [](int& count, int) { ++count; });
    for (int host = 0; host < map.hosts; ++host) {
      std::vector<groups> all;
      each_group(host, [&](int count, int rank) { add(all, {members, count, map.members_on(host, rank, over)}); });
      for (groups const& one : all) {
        hosts_ = std::max(hosts_, one.share.hosts);
        here_ = std::max(here_, one.share.here);
      }
      if (std::find(by_host_.begin(), by_host_.end(), all) == by_host_.end()) by_host_.push_back(all);
    }
  }

  /// `hosts` returns the largest number of hosts over which one group spreads. `here` returns the
  /// largest number of ranks of one group on one host.
  constexpr int hosts() const { return hosts_; }
  constexpr int here() const { return here_; }

  /// Returns the bytes that the busiest host sends to other hosts if each group makes one call of
  /// kind `kind` with `payload` bytes.
  constexpr std::int64_t bytes(shape::collective kind, std::int64_t payload) const {
    std::int64_t most = 0;
    for (std::vector<groups> const& all : by_host_) {
      std::int64_t sum = 0;
      for (groups const& one : all) sum += one.count * shape::host_bytes(kind, payload, one.share);
      most = std::max(most, sum);
    }
    return most;
  }

 private:
  /// The `count` groups on one host that have an equal `share`: they have equally many ranks,
  /// hosts, and ranks on this host.
  struct groups {
    shape::host_share share;
    std::int64_t count = 0;

    friend constexpr bool operator==(groups const&, groups const&) = default;
  };

  static constexpr void add(std::vector<groups>& to, shape::host_share const& one) {
    for (groups& like : to)
      if (like.share == one) {
        ++like.count;
        return;
      }
    to.push_back({one, 1});
  }

  int hosts_ = 1, here_ = 1;
  /// Groups of each host. Hosts with equal groups share one entry.
  std::vector<std::vector<groups>> by_host_;
};

}  // namespace redco::cost
