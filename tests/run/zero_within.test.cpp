#include "stages.hpp"

#include "comm/values.hpp"

#include <redco/run/trained_network.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

// Tests of groups of replicas that share out state, and keep the same state as the other groups.

namespace zero_within_run_test {

using namespace redco;
using comm_test::must;
using run_test::in;
using run_test::numbers;
using stage_test::tied;

run_test::outcome trained(deployer_options const& where, std::int64_t micro_batch) {
  run_test::options_of<gpt2, decltype(stage_test::language())> o;
  o.epochs = 7;
  o.max_steps = 10;
  o.global_batch = 7;
  o.micro_batch = micro_batch;
  o.save_last = false;
  o.save_argmin = {};
  return run_test::fit(where, tied, stage_test::language(), numbers(13), o, {.lr = 2e-3, .clip_norm = 0.5});
}

TEST_CASE("groups of replicas that share state give the losses and states of a run without shares") {
  for (mesh const& on : {mesh{.dp = 4}, {.dp = 6}, {.dp = 4, .tp = 2}, {.pp = 2, .dp = 4}}) {
    temporary_folder const folder;
    deployer_options where = in(folder.path, on);
    where.gradient_bucket = 1.0 / 1024;
    run_test::outcome const whole = trained(where, 1);
    for (int const level : {1, 2, 3})
      for (bool const overlap : {false, true}) {
        if (on.pp > 1 && overlap) continue;
        where.zero = level;
        where.zero_within = "2";
        where.overlap = overlap;
        run_test::outcome const shares = trained(where, 1);
        INFO(stage_test::name_of(on) << " level " << level << " " << whole.reason << shares.reason);
        REQUIRE(whole.losses.size() == 10);
        CHECK(run_test::difference(whole.losses, shares.losses) < 1e-10);
        CHECK(stage_test::distance(whole.state, shares.state) < 1e-10);
        CHECK(shares.log.find("each of 2 replicas keeps a share") != std::string::npos);
        CHECK(shares.log.find(std::to_string(on.dp / 2) + " groups of replicas keep equal shares") !=
              std::string::npos);
      }
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

TEST_CASE("verification passes with groups, and messages are those of the plan") {
  temporary_folder const folder;
  for (int const level : {1, 2, 3}) {
    deployer_options where = in(folder.path, {.dp = 4});
    where.zero = level;
    where.zero_within = "2";
    where.gradient_bucket = 1.0 / 1024;
    INFO("level " << level);
    stage_test::check_verified(tied, where, adamw{.lr = 2e-3, .clip_norm = 0.5}, 8);
  }
}

TEST_CASE("a checkpoint of groups is loaded by runs with other shares, bit for bit") {
  temporary_folder const folder;
  auto const two_steps = [&](mesh const& on, int level, char const* within, char const* resume) {
    deployer_options where = in(folder.path, on);
    where.zero = level;
    where.zero_within = within;
    where.resume = resume;
    run_test::options_of<gpt2, decltype(stage_test::language())> o;
    o.max_steps = 2;
    o.global_batch = 4;
    o.save_argmin = {};
    return run_test::fit(where, tied, stage_test::language(), numbers(13), o, {.lr = 2e-3});
  };
  run_test::outcome const saved = two_steps({.dp = 4}, 3, "2", "none");
  INFO(saved.reason);
  REQUIRE(saved.losses.size() == 2);
  for (auto const& [on, level, within] : std::vector<std::tuple<mesh, int, char const*>>{
           {{.dp = 1}, 0, "run"}, {{.dp = 3}, 3, "run"}, {{.dp = 4}, 1, "2"}}) {
    run_test::outcome const loaded = two_steps(on, level, within, "auto");
    INFO(loaded.reason);
    CHECK(loaded.losses.empty());
    CHECK(run_test::bit_equal(saved.state, loaded.state));
  }
}

TEST_CASE("groups without shares, and owners of matrices in groups, are refused") {
  temporary_folder const folder;
  deployer_options where = in(folder.path, {.dp = 4});
  where.zero_within = "2";
  CHECK(run_test::code_of([&] { deployer const one(where); }) == 64);
  where.zero = 1;
  where.zero_owner = shape::zero_owner::whole;
  CHECK(run_test::code_of([&] { deployer const one(where); }) == 64);
}

}  // namespace zero_within_run_test
