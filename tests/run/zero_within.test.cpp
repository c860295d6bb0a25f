#include "shares.hpp"

#include "comm/values.hpp"

#include <redco/run/trained_network.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/optimizer/muon.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/zero.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Tests of groups of replicas that share out state, and keep the same state as the other groups.

namespace zero_within_run_test {

using namespace redco;
using comm_test::must;
using optimizer::adafactor;
using optimizer::muon;
using run_test::in;
using shares_test::levels;
using shares_test::outcome;
using stage_test::tied;

constexpr shape::zero_owner whole = shape::zero_owner::whole;

/// Six steps of seven examples, one per micro-batch, or as `change(options)` sets.
template <class Optimizer, class Change>
outcome trained(deployer_options const& where, Optimizer const& optimizer, Change const& change) {
  return shares_test::trained(tied, stage_test::language(), where, optimizer, [&](auto& o) {
    o.global_batch = 7;
    o.micro_batch = 1;
    change(o);
  });
}

deployer_options in_groups(deployer_options where, char const* within, int level,
                           shape::zero_owner owner = shape::zero_owner::element) {
  where.zero_within = within;
  where.gradient_bucket = 1.0 / 1024;
  return shares_test::with_zero(where, level, owner);
}

TEST_CASE("groups of replicas that share state give the losses and states of a run without shares") {
  constexpr adamw clipped{.lr = 2e-3, .clip_norm = 0.5};
  auto const ten_steps = [](auto& o) { o.max_steps = 10; };
  for (mesh const& on : {mesh{.dp = 4}, {.dp = 6}, {.dp = 4, .tp = 2}, {.pp = 2, .dp = 4}}) {
    outcome const all = trained(in({}, on), clipped, ten_steps);
    for (int const level : levels)
      for (bool const overlap : {false, true}) {
        if (on.pp > 1 && overlap) continue;
        INFO(stage_test::name_of(on) << " level " << level << ", overlap " << overlap);
        deployer_options where = in_groups(in({}, on), "2", level);
        where.overlap = overlap;
        outcome const shares = trained(where, clipped, ten_steps);
        check_equal(all, shares, 10);
        CHECK(shares.log.find("each of 2 replicas keeps a share") != std::string::npos);
        CHECK(shares.log.find(std::to_string(on.dp / 2) + " groups of replicas keep equal shares") !=
              std::string::npos);
      }
  }
}

TEST_CASE("groups of replicas that own whole matrices give the losses and states of a run without shares") {
  auto const unchanged = [](auto&) {};
  auto const check = [&](mesh const& on, char const* within, auto const& optimizer) {
    outcome const all = trained(in({}, on), optimizer, unchanged);
    for (int const level : levels) {
      INFO(stage_test::name_of(on) << " within " << within << " " << optimizer.name << " level " << level);
      outcome const owners = trained(in_groups(in({}, on), within, level, whole), optimizer, unchanged);
      check_equal(all, owners);
      CHECK(owners.log.find("in whole matrices; 2 groups of replicas keep equal shares") != std::string::npos);
    }
  };
  for (mesh const& on : {mesh{.dp = 4}, {.dp = 4, .tp = 2}, {.pp = 2, .dp = 4}}) {
    check(on, "2", muon{.lr = 1e-2, .clip_norm = 0.5});
    check(on, "2", adafactor{.clip_norm = 0.5});
  }
  check({.dp = 6}, "3", muon{.lr = 1e-2, .clip_norm = 0.5});
  check({.dp = 6}, "3", adamw{.lr = 2e-3, .clip_norm = 0.5});
}

TEST_CASE("groups of owners give the bits of one rank where sums do not depend on their order") {
  // Two of the four replicas have an example, and the sum of their gradients is rounded once.
  auto const run = [](deployer_options where, dtype type, auto const& optimizer) {
    where.dtype = type;
    return trained(where, optimizer, [](auto& o) {
      o.train_of_epoch = [](int epoch) { return examples<std::int64_t>(std::vector<std::int64_t>{2 * epoch, 9}); };
    });
  };
  auto const check = [&](dtype type, auto const& optimizer) {
    outcome const one = run(in({}, {.dp = 1}), type, optimizer), all = run(in({}, {.dp = 4}), type, optimizer);
    check_same_bits(one, all);
    for (int const level : levels) {
      INFO(redco::name_of(type) << " " << optimizer.name << " level " << level);
      check_same_bits(one, run(in_groups(in({}, {.dp = 4}), "2", level, whole), type, optimizer));
    }
  };
  for (dtype const type : {dtype::f32, dtype::bf16}) {
    check(type, muon{.lr = 1e-2});
    check(type, adafactor{});
  }
}

TEST_CASE("a rank of a group keeps the share of its group, and the next group the same one") {
  mesh const on{.dp = 2, .ds = 2};
  std::vector<at::Tensor> kept(4);
  comm::run_ranks(on, {.first_deadline = std::chrono::seconds(200), .threads = 1}, [&](rank_context& me) {
    run::trained_network<gpt2> const net(tied, plan_of(tied, me.mesh), adamw{}, dtype::bf16, 3, me.rank, {},
                                         redco::tensors::cpu_device(),
                                         {.level = 3, .shared_over = shape::axis::ds | shape::axis::ep});
    std::int64_t elements = 0;
    for (auto const& p : net.store.parameters()) elements += p.value.numel();
    must(net.store.kept_values().numel() >= elements / 2 && net.store.kept_values().numel() < elements / 2 + 20,
         "half");
    kept[static_cast<std::size_t>(me.rank)] = net.store.kept_values().clone();
  });
  CHECK(at::equal(kept[0], kept[2]));
  CHECK(at::equal(kept[1], kept[3]));
  CHECK_FALSE(at::equal(kept[0], kept[1]));
}

TEST_CASE("a matrix has one owner in each group") {
  mesh const on{.dp = 2, .ep = 2};
  std::vector<std::vector<std::string>> owned(4);
  comm::run_ranks(on, {.first_deadline = std::chrono::seconds(200), .threads = 1}, [&](rank_context& me) {
    run::trained_network<gpt2> const net(tied, plan_of(tied, me.mesh), muon{}, dtype::bf16, 3, me.rank, {},
                                         redco::tensors::cpu_device(),
                                         {.level = 1, .shared_over = shape::axis::ep, .owner = whole});
    for (run::network_state::updated_part const& one : net.updated_parts())
      if (net.store.find(one.name)->owner >= 0) owned[static_cast<std::size_t>(me.rank)].push_back(one.name);
  });
  CHECK(owned[0] == owned[2]);
  CHECK(owned[1] == owned[3]);
  CHECK(owned[0].size() + owned[1].size() == 4 * 6);  // q, k, v, o, up and down of each block
  CHECK(std::min(owned[0].size(), owned[1].size()) >= 6);
}

TEST_CASE("verification passes with groups, and messages are those of the plan") {
  temporary_folder const folder;
  auto const check = [&](mesh const& on, auto const& optimizer, shape::zero_owner owner) {
    for (int const level : levels) {
      INFO(stage_test::name_of(on) << " " << optimizer.name << " level " << level);
      stage_test::check_verified(tied, in_groups(in(folder.path, on), "2", level, owner), optimizer, 8);
    }
  };
  check({.dp = 4}, adamw{.lr = 2e-3, .clip_norm = 0.5}, shape::zero_owner::element);
  for (mesh const& on : {mesh{.dp = 4}, {.dp = 4, .tp = 2}, {.pp = 2, .dp = 4}}) {
    check(on, muon{.lr = 1e-2, .clip_norm = 0.5}, whole);
    check(on, adafactor{.clip_norm = 0.5}, whole);
  }
}

TEST_CASE("groups without shares are refused") {
  temporary_folder const folder;
  deployer_options where = in(folder.path, {.dp = 4});
  where.zero_within = "2";
  CHECK(run_test::code_of([&] { deployer const one(where); }) == 64);
}

}  // namespace zero_within_run_test
