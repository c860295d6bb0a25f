#include "catch.hpp"
#include "refused.hpp"

#include <redco/cost/cost_of.hpp>
#include <redco/cost/host_load.hpp>

#include <redco/model/gpt2.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace host_load_test {

using redco::cost::messages, redco::cost::message_total;
using redco::shape::axes, redco::shape::axis, redco::shape::collective, redco::mesh;

/// Compares the load of each host with an enumeration: groups over these axes as lists of ranks,
/// and the bytes that each host sends for each group.
void check_load(mesh const& on, int hosts, axes over, axes others) {
  std::map<int, std::vector<int>> groups;
  for (int rank = 0; rank < on.ranks(); ++rank) groups[on.coordinate(rank, others)].push_back(rank);
  int const each = on.ranks() / hosts;
  int most_hosts = 0, most_here = 0;
  std::map<collective, std::vector<std::int64_t>> sent;
  std::vector const kinds{collective::all_reduce, collective::all_gather, collective::reduce_scatter,
                          collective::all_to_all};
  std::int64_t const payload = 12 * on.ranks();
  for (collective const kind : kinds) sent[kind].resize(static_cast<std::size_t>(hosts));
  for (auto const& [number, members] : groups) {
    std::set<int> touched;
    for (int const rank : members) touched.insert(rank / each);
    most_hosts = std::max(most_hosts, static_cast<int>(touched.size()));
    for (int const host : touched) {
      auto const here = static_cast<int>(
          std::count_if(members.begin(), members.end(), [&](int rank) { return rank / each == host; }));
      most_here = std::max(most_here, here);
      for (collective const kind : kinds)
        sent[kind][static_cast<std::size_t>(host)] += redco::shape::host_bytes(
            kind, payload, {static_cast<int>(members.size()), static_cast<int>(touched.size()), here});
    }
  }
  redco::cost::host_load const load({on, hosts}, over);
  CHECK(load.hosts() == most_hosts);
  CHECK(load.here() == most_here);
  for (collective const kind : kinds)
    CHECK(load.bytes(kind, payload) == *std::max_element(sent[kind].begin(), sent[kind].end()));
}

TEST_CASE("the bytes sent by the busiest host equal the sum over its groups one by one") {
  for (mesh const& on : {mesh{.dp = 3, .tp = 2}, mesh{.dp = 2, .ep = 3, .tp = 2}, mesh{.dp = 5, .tp = 3},
                         mesh{.pp = 2, .dp = 3, .tp = 3}, mesh{.dp = 4, .tp = 2}})
    for (int hosts = 1; hosts <= on.ranks(); ++hosts) {
      if (on.ranks() % hosts != 0) continue;
      CAPTURE(on.pp, on.dp, on.ep, on.tp, hosts);
      check_load(on, hosts, axis::tp, axis::pp | axis::dp | axis::ep);
      check_load(on, hosts, redco::shape::batch_axes, axis::pp | axis::tp);
      check_load(on, hosts, redco::shape::every_axis, {});
      check_load(on, hosts, redco::shape::model_axes, axis::dp);
    }
}

constexpr redco::gpt2 demo{{.vocab = 64, .context = 16, .width = 24, .heads = 4, .layers = 2}};

messages sent(redco::mesh const& on, int hosts) {
  return redco::cost::cost_of(demo, redco::adamw{}, {.mesh = on, .load = {5, 16}, .hosts = hosts}).messages;
}

TEST_CASE("only groups that span several hosts send messages between hosts") {
  messages const one = sent({.dp = 2, .tp = 2}, 1), two = sent({.dp = 2, .tp = 2}, 2);
  // Each replica is on one host: its shards communicate inside it, and each host sends the
  // gradients of both shards.
  message_total const shards = two[messages::forward], gradients = two[messages::gradients];
  CHECK((shards.hosts == 1 && shards.here == 2 && shards.host_bytes == 0));
  CHECK((shards.inside_bytes == shards.wire_bytes && shards.wire_bytes == one[messages::forward].wire_bytes));
  CHECK((gradients.hosts == 2 && gradients.here == 1 && gradients.inside_bytes == 0));
  CHECK(gradients.host_bytes == 2 * gradients.payload_bytes);
  CHECK(two[messages::loss_total].host_bytes == two[messages::loss_total].payload_bytes);
  CHECK(two[messages::loss_total].inside_bytes == two[messages::loss_total].payload_bytes);
  CHECK(two.host_bytes() == 2 * gradients.payload_bytes + two[messages::loss_total].payload_bytes);
  CHECK(one.host_bytes() == 0);
  CHECK(one.calls() == two.calls());
  CHECK(one.wire_bytes() == two.wire_bytes());

  // Three replicas on two hosts: the shards of the second replica are on both hosts, and so are the
  // replicas of each shard.
  messages const uneven = sent({.dp = 3, .tp = 2}, 2);
  CHECK((uneven[messages::forward].hosts == 2 && uneven[messages::forward].here == 2));
  CHECK(uneven[messages::forward].host_bytes == uneven[messages::forward].payload_bytes);
  CHECK(uneven[messages::gradients].host_bytes == 2 * uneven[messages::gradients].payload_bytes);
  CHECK(uneven[messages::gradients].here == 2);
}

TEST_CASE("tokens gathered and summed over four shards on two hosts are sent once to the other host") {
  redco::models::sequence_parallel<redco::gpt2> const split{demo.config};
  messages const m =
      redco::cost::cost_of(split, redco::adamw{}, {.mesh = {.tp = 4}, .load = {5, 16}, .hosts = 2}).messages;
  for (auto const p : {messages::forward_gather, messages::forward_scatter}) {
    REQUIRE(m[p].calls > 0);
    CHECK(2 * m[p].host_bytes == m[p].payload_bytes);
    CHECK(2 * m[p].inside_bytes == m[p].payload_bytes);
    CHECK(4 * m[p].wire_bytes == 3 * m[p].payload_bytes);
  }
}

TEST_CASE("hosts that cannot share the ranks equally are refused") {
  for (int const hosts : {0, 4, 7})
    CHECK(refused([&] { sent({.dp = 3, .tp = 2}, hosts); }) ==
          "64 6 ranks cannot be shared equally by " + std::to_string(hosts) +
              " hosts; choose a number of hosts that divides the ranks");
}

// The values are available at compile time.
static_assert(redco::cost::cost_of<demo>(redco::adamw{}, {.mesh = {.dp = 2, .tp = 2}, .load = {1, 16}, .hosts = 4})
                  .messages[messages::forward]
                  .hosts == 2);

}  // namespace host_load_test
