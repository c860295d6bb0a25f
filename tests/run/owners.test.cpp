#include "shares.hpp"

#include "comm/values.hpp"

#include <redco/run/trained_network.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/optimizer/groups.hpp>
#include <redco/optimizer/muon.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/zero.hpp>
#include <redco/adapt/plan/with_lora.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

// Compares runs whose replicas own whole matrices (--zero-owner whole) with other runs.

namespace owners_run_test {

using namespace redco;
using comm_test::must;
using optimizer::adafactor;
using optimizer::grouped;
using optimizer::muon;
using run_test::in;
using run_test::numbers;
using shares_test::outcome;
using stage_test::distance;
using stage_test::language;
using stage_test::name_of;
using stage_test::tied;

/// Six steps with one example per micro-batch, or as `change(options)` sets.
template <class Model, class Optimizer, class Change>
outcome changed(Model const& model, deployer_options const& where, Optimizer const& optimizer, Change const& change) {
  return shares_test::trained(model, language(), where, optimizer, [&](auto& o) {
    o.micro_batch = 1;
    change(o);
  });
}

template <class Model, class Optimizer>
outcome trained(Model const& model, deployer_options const& where, Optimizer const& optimizer) {
  return changed(model, where, optimizer, [](auto&) {});
}

deployer_options with_owner(deployer_options where, int level = 1) {
  where.gradient_bucket = 0.25 / 1024;
  return shares_test::with_zero(where, level, shape::zero_owner::whole);
}

llama const grouped_heads{{.vocab = 23, .context = 16, .width = 12, .ffn = 20, .heads = 2, .kv_heads = 1, .layers = 2}};

TEST_CASE("Muon, Adafactor and AdamW with owners of whole matrices equal runs in which each replica updates all") {
  temporary_folder const folder;
  auto const check = [&](auto const& model, mesh const& on, auto const& optimizer) {
    INFO(name_of(on) << " " << optimizer.name);
    deployer_options const where = in(folder.path, on);
    outcome const all = trained(model, where, optimizer);
    outcome owners;
    for (int const level : {3, 2, 1}) {
      if (level == 2 && on.ranks() > 4) continue;
      owners = trained(model, with_owner(where, level), optimizer);
      INFO("level " << level);
      check_equal(all, owners);
    }
    return owners;
  };
  for (mesh const& on :
       {mesh{.dp = 2}, {.dp = 3}, {.dp = 4}, {.dp = 2, .tp = 2}, {.dp = 3, .tp = 2}, {.dp = 4, .tp = 2}}) {
    check(tied, on, muon{.lr = 1e-2, .clip_norm = 0.5});
    check(tied, on, adafactor{.clip_norm = 0.5});
  }
  check(grouped_heads, {.dp = 3, .tp = 2}, muon{.lr = 1e-2});
  check(grouped_heads, {.dp = 2, .tp = 2}, adafactor{.beta1 = 0.9});
  for (mesh const& on : {mesh{.dp = 3}, {.dp = 2, .tp = 2}}) {
    constexpr adamw clipped{.lr = 2e-3, .clip_norm = 0.5};
    outcome const owners = check(tied, on, clipped);
    outcome const elements = trained(tied, shares_test::with_zero(in(folder.path, on)), clipped);
    CHECK(run_test::difference(owners.losses, elements.losses) < 1e-10);
    CHECK(distance(owners.state, elements.state) < 1e-10);
  }
}

TEST_CASE("without clipping, owners of whole matrices give equal bits in f32 and bf16") {
  temporary_folder const folder;
  for (dtype const type : {dtype::f32, dtype::bf16})
    for (mesh const& on : {mesh{.dp = 2}, {.dp = 3}, {.dp = 2, .tp = 2}}) {
      auto const check = [&](auto const& optimizer) {
        INFO(name_of(on) << " " << redco::name_of(type) << " " << optimizer.name);
        deployer_options where = in(folder.path, on);
        where.dtype = type;
        check_same_bits(trained(tied, where, optimizer), trained(tied, with_owner(where), optimizer));
        // Shares of gradients add up micro-batches in another order.
        auto const at_once = [](auto& o) { o.micro_batch = 0; };
        outcome const whole = changed(tied, where, optimizer, at_once);
        for (int const level : {2, 3})
          check_same_bits(whole, changed(tied, with_owner(where, level), optimizer, at_once));
      };
      check(muon{.lr = 1e-2});
      check(adafactor{});
      check(adamw{.lr = 2e-3});
    }
}

TEST_CASE("frozen parameters, adapters, groups, averages and pipeline stages run with owners of whole matrices") {
  temporary_folder const folder;
  auto const check = [&](auto const& model, auto const& optimizer, std::vector<std::string> const& frozen = {},
                         mesh const& on = {.dp = 3}, dtype type = dtype::f64) {
    INFO(name_of(on) << " " << optimizer.name << " " << redco::name_of(type));
    deployer_options where = in(folder.path, on);
    where.dtype = type;
    auto const change = [&](auto& o) {
      o.frozen = frozen;
      o.eval = numbers(4);
    };
    outcome const all = changed(model, where, optimizer, change);
    for (int const level : {1, 3}) {
      outcome const owners = changed(model, with_owner(where, level), optimizer, change);
      INFO("level " << level << " " << all.reason << owners.reason);
      // Shares of gradients round the sum of each micro-batch to bf16.
      double const tolerance = type == dtype::f64 ? 1e-10 : level == 1 ? 1e-6 : 0.1;
      REQUIRE(all.losses.size() == 6);
      CHECK(run_test::difference(all.losses, owners.losses) < std::min(tolerance, 1e-2));
      CHECK(distance(all.state, owners.state) < tolerance);
      CHECK(std::abs(all.evaluation.at("loss") - owners.evaluation.at("loss")) < std::min(tolerance, 1e-2));
    }
  };
  std::vector<std::string> const frozen{"wte.*", "h.1.*"};
  check(tied, muon{.lr = 1e-2}, frozen);
  check(tied, adafactor{}, frozen, {.dp = 2}, dtype::bf16);
  // All matrices of three blocks have fewer owners than replicas.
  check(tied, muon{.lr = 1e-2}, {"h.0.*", "h.1.*", "h.2.*", "h.3.attn.*"}, {.dp = 4});
  with_lora<gpt2> const lora{{tied.config, {.rank = 2, .targets = "qkv,down"}}};
  check(lora, muon{.lr = 1e-2});
  check(lora, adafactor{}, {}, {.dp = 2, .tp = 2});
  check(tied, grouped(muon{.lr = 1e-2},
                      {{.pattern = "*.weight", .rate = 0.5}, {.pattern = "h.2.*", .weight_decay = 0.3}}, 0.8));
  check(tied, optimizer::averaged(muon{.lr = 1e-2}, 0.5));
  check(tied, optimizer::averaged(adafactor{}, 0.5), {}, {.dp = 2}, dtype::bf16);
  check(tied, muon{.lr = 1e-2}, {}, {.pp = 2, .dp = 2});
  check(tied, adafactor{}, {}, {.pp = 2, .dp = 3});
}

TEST_CASE("each matrix has one owner, whose model shards are all of one replica") {
  mesh const on{.dp = 3, .tp = 2};
  std::vector<std::vector<std::string>> updated(static_cast<std::size_t>(on.ranks()));
  comm::run_ranks(on, {.first_deadline = std::chrono::seconds(200), .threads = 1}, [&](rank_context& me) {
    run::trained_network<gpt2> const net(tied, plan_of(tied, me.mesh), muon{}, dtype::bf16, 3, me.rank, {},
                                         redco::tensors::cpu_device(), {.level = 1, .owner = shape::zero_owner::whole});
    for (run::network_state::updated_part const& one : net.updated_parts()) {
      nn::stored_parameter const& s = *net.store.find(one.name);
      must(s.plan.fact.is_hidden_matrix() == (s.owner >= 0), one.name);
      if (s.owner < 0) continue;
      must(s.owner == me.coordinate(shape::batch_axes), one.name);
      must(one.master.local.sizes().equals(s.value.sizes()), one.name + " is whole");
      updated[static_cast<std::size_t>(me.rank)].push_back(one.name);
    }
  });
  std::size_t all = 0;
  for (int replica = 0; replica < on.dp; ++replica) {
    std::vector<std::string> const& of_first = updated[static_cast<std::size_t>(2 * replica)];
    CHECK(of_first == updated[static_cast<std::size_t>(2 * replica + 1)]);
    CHECK(of_first.size() >= 6);
    all += of_first.size();
  }
  CHECK(all == 4 * 6);  // q, k, v, o, up and down of each block
}

TEST_CASE("verification passes with owners of whole matrices, and messages are those of the plan") {
  temporary_folder const folder;
  for (mesh const& on : {mesh{.dp = 3}, {.dp = 2, .tp = 2}, {.pp = 2, .dp = 2}}) {
    auto const check = [&](auto const& optimizer) {
      for (int const level : {1, 2, 3}) {
        INFO(name_of(on) << " " << optimizer.name << " level " << level);
        stage_test::check_verified(tied, with_owner(in(folder.path, on), level), optimizer, 2 * on.dp);
      }
    };
    check(muon{.lr = 1e-2, .clip_norm = 0.5});
    check(adafactor{.clip_norm = 0.5});
  }
}

TEST_CASE("the log names owners of whole matrices, and impossible runs are refused by name") {
  temporary_folder const folder;
  outcome const two = trained(tied, with_owner(in(folder.path, {.dp = 2})), muon{});
  CHECK(two.log.find("each of 2 replicas keeps a share of the optimizer's state, in whole matrices") !=
        std::string::npos);
  outcome const one = trained(tied, with_owner(in(folder.path, {.dp = 1, .tp = 2})), muon{});
  CHECK(one.losses.size() == 6);
  CHECK(one.log.find("zero 1: nothing is shared out") != std::string::npos);

  auto const check = [&](deployer_options const& where, auto const& optimizer, std::string const& reason) {
    outcome const refused = trained(tied, where, optimizer);
    INFO(refused.reason);
    CHECK(refused.code == 64);
    CHECK(refused.reason.find(reason) != std::string::npos);
  };
  deployer_options where = in(folder.path, {.dp = 2});
  auto const elements = shares_test::with_zero(where);
  check(elements, muon{}, "--zero 1 and the optimizer muon: it updates whole matrices");
  check(elements, adafactor{}, "give --zero-owner whole");
  where = with_owner(where);
  where.overlap = true;
  check(where, muon{}, "--overlap with --zero-owner whole");
  where.overlap = {};
  where.zero = 0;
  check(where, muon{}, "--zero-owner whole without --zero");
}

}  // namespace owners_run_test
