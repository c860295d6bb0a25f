#include "experts.hpp"

#include <redco/run/step.hpp>
#include <redco/run/step_work.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/run/training_step.hpp>
#include <redco/run/verify.hpp>
#include <redco/nn/pass.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/shard/facts.hpp>
#include <redco/optimizer/muon.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

// Runs in which ranks along ep hold different experts and the replicas keep shares of the training
// state (ZeRO). The replicas share dense parameters over dp and ep, and experts over dp.

namespace expert_shares_test {

using namespace experts_test;

/// Fits on `on` with each level of ZeRO up to `most`, and compares with one rank.
template <class Model>
void check_levels(mesh const& on, std::int64_t examples, std::int64_t global, std::int64_t micro, bool overlap,
                  int most = 3) {
  result const expected = fitted<Model>(on_mesh({.dp = 1}), examples, global, micro);
  for (int level = 1; level <= most; ++level) {
    if (level == 2 && on.pp > 1) continue;
    INFO(name_of(on) << ", level " << level << ", micro-batches of " << micro << (overlap ? ", overlap" : ""));
    deployer_options where = on_mesh(on, level);
    where.gradient_bucket = 1.0 / 1024;
    where.overlap = overlap;
    result found;
    REQUIRE_NOTHROW(found = fitted<Model>(where, examples, global, micro));
    check_equal(found, expected);
  }
}

TEST_CASE("experts train, evaluate and predict as on one rank at each level of ZeRO") {
  for (mesh const& on : {mesh{.ep = 2}, {.dp = 2, .ep = 2}, {.ep = 2, .tp = 2}, {.dp = 2, .ep = 2, .tp = 2}})
    check_levels<auxiliary>(on, 13, 8, 0, false);
  check_levels<descended>({.dp = 2, .ep = 4}, 16, 8, 0, false);
  check_levels<balanced>({.dp = 2, .ep = 2}, 13, 8, 0, false, 2);
}

TEST_CASE("ranks without a micro-batch join experts, sums and gathers in one order at each level of ZeRO") {
  for (mesh const& on : {mesh{.ep = 2}, {.ep = 4}, {.dp = 2, .ep = 2}})
    for (bool const overlap : {false, true}) check_levels<auxiliary>(on, 13, 5, 1, overlap);
}

TEST_CASE("experts on pipeline stages train as on one rank with shares of state and of parameters") {
  check_levels<auxiliary>({.pp = 2, .ep = 2}, 13, 5, 1, false);
  check_levels<auxiliary>({.pp = 2, .dp = 2, .ep = 2}, 13, 5, 1, false);
}

TEST_CASE("experts train, evaluate and predict as on one rank if groups of replicas share state out") {
  struct groups {
    mesh on;
    char const* within;
  };
  for (auto const& [on, within] : {groups{{.dp = 2, .ep = 2}, "2"}, groups{{.dp = 4, .ep = 2}, "4"},
                                   groups{{.dp = 2, .ep = 2, .tp = 2}, "2"}, groups{{.pp = 2, .dp = 2, .ep = 2}, "2"}})
    for (std::int64_t const micro : {0, 1}) {
      result const expected = fitted<auxiliary>(on_mesh({.dp = 1}), 16, 8, micro);
      for (int level = 1; level <= 3; ++level) {
        if (level == 2 && on.pp > 1) continue;
        INFO(name_of(on) << " within " << within << ", level " << level << ", micro-batches of " << micro);
        deployer_options where = on_mesh(on, level);
        where.zero_within = within;
        where.gradient_bucket = 1.0 / 1024;
        check_equal(fitted<auxiliary>(where, 16, 8, micro), expected);
      }
    }
}

TEST_CASE("owners of whole matrices train experts as on one rank") {
  for (mesh const& on : {mesh{.ep = 2}, {.dp = 2, .ep = 2}, {.ep = 2, .tp = 2}, {.dp = 3, .ep = 2}}) {
    auto const check = [&](auto const& optimizer) {
      result const expected = fitted<descended>(on_mesh({.dp = 1}), 13, 8, 0, optimizer);
      for (int level = 1; level <= 3; ++level) {
        INFO(name_of(on) << ", level " << level << ", " << optimizer.name);
        deployer_options where = on_mesh(on, level);
        where.zero_owner = redco::shape::zero_owner::whole;
        where.gradient_bucket = 1.0 / 1024;
        check_equal(fitted<descended>(where, 13, 8, 0, optimizer), expected);
      }
    };
    check(redco::optimizer::muon{.lr = 1e-2, .clip_norm = 0.05});
    check(redco::optimizer::adafactor{.lr = 1e-2});
    check(adamw{.lr = 1e-2, .clip_norm = 0.05});
  }
}

TEST_CASE("verify passes for experts at each level of ZeRO") {
  auto const pipeline = continuing();
  for (mesh const& on : {mesh{.ep = 2}, mesh{.dp = 2, .ep = 2}})
    for (int const level : {1, 2, 3}) {
      run_test::silence const quiet;
      temporary_folder const folder;
      deployer_options where = on_mesh(on, level);
      where.workdir = folder.path;
      deployer deployer(where);
      trainer one(deployer, auxiliary{}, pipeline, adamw{.lr = 1e-2, .clip_norm = 0.05});
      run_test::options_of<auxiliary, decltype(pipeline)> o;
      o.global_batch = 5;
      o.micro_batch = 1;
      redco::run::verify_result const found = verify(one, numbers(13), o);
      INFO(name_of(on) << ", level " << level << ": " << found.text(100) << found.verdict());
      CHECK(found.ok());
    }
}

TEST_CASE("a checkpoint of experts on any mesh and level is loaded by any other, bit for bit") {
  struct layout {
    mesh on;
    int level;
  };
  layout const layouts[] = {{{.dp = 1}, 0},
                            {{.ep = 2}, 1},
                            {{.dp = 2, .ep = 2}, 2},
                            {{.dp = 2, .ep = 2, .tp = 2}, 3},
                            {{.pp = 2, .ep = 2}, 3}};
  auto const state_of = [](std::filesystem::path const& folder, layout const& of, dtype type, bool resumes) {
    run_test::silence const quiet;
    deployer_options where = on_mesh(of.on, of.level);
    where.workdir = folder;
    where.dtype = type;
    if (resumes) where.resume = "auto";
    deployer deployer(where);
    auto const pipeline = run_test::language();
    trainer one(deployer, auxiliary{}, pipeline, adamw{.lr = 1e-2});
    run_test::options_of<auxiliary, decltype(pipeline)> o;
    o.global_batch = 8;
    o.max_steps = 2;
    std::int64_t steps = 0;
    o.on_step = [&](fit_event const&) { ++steps; };
    one.fit(numbers(16), o);
    CHECK(steps == (resumes ? 0 : 2));
    return run_test::whole_state(one.states());
  };
  for (dtype const type : {dtype::f64, dtype::bf16})
    for (layout const& saving : layouts) {
      temporary_folder const folder;
      run_test::tensors const saved = state_of(folder.path, saving, type, false);
      for (layout const& loading : layouts) {
        INFO(name_of(saving.on) << " level " << saving.level << " to " << name_of(loading.on) << " level "
                                << loading.level);
        CHECK(run_test::bit_equal(saved, state_of(folder.path, loading, type, true)));
      }
    }
}

/// Bytes of the state of one rank between two steps.
struct held_bytes {
  std::int64_t gradients = 0, slots = 0, all = 0, workspace = 0;
};

held_bytes measured(mesh const& on, dtype type, redco::shape::zero const& zero) {
  std::vector<held_bytes> found(static_cast<std::size_t>(on.ranks()));
  comm::run_ranks(on, {.first_deadline = std::chrono::seconds(200), .threads = 1}, [&](rank_context& me) {
    auto const counter = std::make_shared<redco::tensors::memory_counter>();
    redco::tensors::memory_counter::scope const counting(counter);
    run::trained_network<descended> const net({}, plan_of(descended{}, me.mesh), adamw{}, type, 3, me.rank, {},
                                              redco::tensors::cpu_device(), zero);
    held_bytes& held = found[static_cast<std::size_t>(me.rank)];
    held.gradients = static_cast<std::int64_t>(net.store.gradients().nbytes());
    for (update::segment const& s : net.segments)
      for (at::Tensor const& slot : s.slots) held.slots += static_cast<std::int64_t>(slot.nbytes());
    held.all = counter->current();
    counter->reset_peak();
    net.gather_values(me);
    held.workspace = counter->peak() - held.all;
  });
  held_bytes most;
  for (held_bytes const& one : found)
    if (one.all > most.all) most = one;
  return most;
}

/// Checks the bytes that ranks on `on` hold at each level of ZeRO. `zero`: its level is ignored.
void check_bytes(mesh const& on, redco::shape::zero zero) {
  for (dtype const type : {dtype::f64, dtype::f32, dtype::bf16})
    for (zero.level = 0; zero.level <= 3; ++zero.level) {
      INFO(name_of(on) << ", " << redco::name_of(type) << ", level " << zero.level);
      cost::setup run{.mesh = on, .load = {2, 8}, .compute = type};
      run.zero.level = zero.level;
      run.zero.owner = zero.level == 0 ? redco::shape::zero_owner::element : zero.owner;
      run.zero.shared_over = zero.shared_over;
      run.zero.bucket = 512;
      zero.bucket = 512;
      cost::memory const plan = cost::cost_of(descended{}, adamw{}, run).memory;
      held_bytes const held = measured(on, type, zero);
      CHECK(held.gradients == plan.gradients);
      CHECK(held.slots == plan.optimizer);
      CHECK(held.all == plan.persistent() - plan.batches);
      if (zero.level < 3) CHECK(held.workspace == plan.shares_workspace);
    }
}

redco::shape::axes const of_group = redco::shape::axis::ds | redco::shape::axis::ep;

TEST_CASE("a rank with some experts holds a share of the state, to the byte as planned") {
  for (mesh const& on : {mesh{.ep = 2}, {.ep = 4}, {.dp = 2, .ep = 2}, {.dp = 3, .ep = 2}, {.dp = 2, .ep = 2, .tp = 2}})
    check_bytes(on, {});
  for (mesh const& on : {mesh{.dp = 2, .ep = 2}, {.dp = 2, .ds = 2, .ep = 2}})
    check_bytes(on, {.shared_over = of_group});
  for (mesh const& on : {mesh{.ep = 2}, {.dp = 2, .ep = 2}, {.dp = 3, .ep = 2}, {.dp = 2, .ep = 2, .tp = 2}})
    check_bytes(on, {.owner = redco::shape::zero_owner::whole});
}

TEST_CASE("ranks along ep share dense state only: the experts' state is divided by dp alone") {
  auto const slots = [](mesh const& on, int level, redco::shape::axes over = redco::shape::token_axes) {
    cost::setup run{.mesh = on, .load = {2, 8}};
    run.zero.level = level;
    run.zero.shared_over = over;
    return cost::cost_of(descended{}, adamw{}, run).memory.optimizer;
  };
  std::int64_t dense = 0, experts = 0;
  for (auto const& p : shard::facts_of(descended{}).parameters)
    (p.why == fact::reason::expert ? experts : dense) += p.shape.count() * p.copies() * 8;
  CHECK(slots({.ep = 2}, 0) == dense + experts / 2);
  CHECK(slots({.ep = 2}, 1) == dense / 2 + experts / 2);
  CHECK(slots({.dp = 2, .ep = 2}, 1) == dense / 4 + experts / 4);
  // Groups of the two ranks along ep, and of two such pairs.
  CHECK(slots({.dp = 2, .ep = 2}, 1, of_group) == dense / 2 + experts / 2);
  CHECK(slots({.dp = 2, .ds = 2, .ep = 2}, 1, of_group) == dense / 4 + experts / 4);
}

/// A micro-batch of two examples per replica.
class one_batch final : public run::step_work {
 public:
  one_batch(run::trained_network<descended> const& net, rank_context& rank)
      : net_(net), in_(nn::training_pass(rank).with_examples(2 * rank.coordinate(redco::shape::batch_axes), 2)) {}

  terms loss(std::int32_t, comm::replica_round const&, nn::stage_link*) override {
    at::Tensor const ids = at::arange(18, at::kLong).view({2, 9}).remainder(11);
    return terms{{{"loss", cross_entropy(net_.in(in_)(ids), ids), 1}}};
  }
  void compute(run::step_executor&, comm::replica_round const&) override {}

 private:
  run::trained_network<descended> const& net_;
  pass in_;
};

/// Bytes and calls of sums of gradients and gathers of parameters in a step, by the bits of the
/// mesh axes of more than one rank.
using traffic_over = std::map<std::uint8_t, redco::shape::traffic::entry>;

redco::shape::axes several(mesh const& on, redco::shape::axes over) {
  redco::shape::axes found;
  for (redco::shape::axis const a : redco::shape::all_axes)
    if (over.has(a) && on[a] > 1) found = found | a;
  return found;
}

traffic_over planned_shares(mesh const& on, redco::shape::zero const& zero) {
  cost::setup run{.mesh = on, .load = {2, 9}, .compute = dtype::f64};
  run.zero.level = zero.level;
  run.zero.owner = zero.owner;
  run.zero.shared_over = zero.shared_over;
  run.zero.bucket = zero.bucket;
  traffic_over planned;
  for (cost::message_total const& one : cost::cost_of(descended{}, adamw{}, run).messages)
    if (one.calls > 0 &&
        (one.purpose == cost::messages::name_of_gradients || one.purpose == cost::messages::name_of_parameters))
      planned[several(on, one.over).bits] += one;
  return planned;
}

traffic_over counted_shares(mesh const& on, redco::shape::zero const& zero) {
  traffic_over counted;
  comm::run_ranks(on, {.threads = 1}, [&](rank_context& me) {
    run::trained_network<descended> net({}, plan_of(descended{}, on), adamw{}, dtype::f64, 3, me.rank, {},
                                        redco::tensors::cpu_device(), zero);
    one_batch work(net, me);
    run::step_executor(net, me, {}).run(work, {0, 1});
    if (me.rank != 0) return;
    using redco::shape::collective, redco::shape::axis;
    // The ranks along ep alone exchange rows of experts.
    for (redco::shape::axes const over : {redco::shape::token_axes, axis::dp | axis::ds | axis::cp, of_group,
                                          axis::dp | axis::cp, redco::shape::axes(axis::ds)}) {
      redco::shape::axes const real = several(on, over);
      if (real.empty() || real == redco::shape::axes(axis::ep)) continue;
      redco::shape::traffic const all = me.group(over).counters();
      redco::shape::traffic::entry sum = all[collective::reduce_scatter];
      sum += all[collective::all_reduce];
      sum += all[collective::all_gather];
      if (sum.calls > 0) counted[real.bits] = sum;
    }
  });
  return counted;
}

TEST_CASE("messages of shares are those of the plan: dense state over dp and ep, experts over dp") {
  auto const check = [](mesh const& on, redco::shape::zero zero, std::size_t groups) {
    zero.bucket = 512;
    for (zero.level = 1; zero.level <= 2; ++zero.level) {
      INFO(name_of(on) << ", level " << zero.level);
      traffic_over const planned = planned_shares(on, zero);
      CHECK(planned.size() == groups);
      CHECK((counted_shares(on, zero) == planned));
    }
  };
  check({.dp = 2, .ep = 2}, {}, 2);
  check({.dp = 2, .ep = 2}, {.owner = redco::shape::zero_owner::whole}, 2);
  // Groups of two pairs of ranks along ep: dense shares over ds and ep, experts' over ds, and sums
  // of both over the two groups.
  check({.dp = 2, .ds = 2, .ep = 2}, {.shared_over = of_group}, 3);
}

TEST_CASE("a step of the program's own is refused with experts at level 2, also if the program makes it") {
  auto const code_of_step = [](int level) {
    return run_test::code_of([&] {
      comm::run_ranks({.ep = 2}, {.threads = 1}, [&](rank_context& me) {
        run::trained_network<descended> net({}, plan_of(descended{}, me.mesh), adamw{}, dtype::f64, 3, me.rank, {},
                                            redco::tensors::cpu_device(), {.level = level, .bucket = 512});
        run::training_step step(net, me);
        step.add(one_batch(net, me).loss(0, {}, nullptr));
        step.finish(0, 1, false);
      });
    });
  };
  CHECK(code_of_step(1) == 0);
  CHECK(code_of_step(2) == 64);
  CHECK(code_of_step(3) == 64);
}

TEST_CASE("the log says who shares the state of experts, and biases of loads are refused at level 3") {
  auto const log = [](mesh const& on, char const* within = "run") {
    deployer_options where = on_mesh(on, 1);
    where.zero_within = within;
    return fitted<descended>(where, 8, 8, 0).log;
  };
  CHECK(log({.ep = 2}).find("zero 1: each of 2 replicas keeps a share of the optimizer's state; each rank keeps the "
                            "whole state of its experts, because dp is 1") != std::string::npos);
  CHECK(log({.dp = 2, .ep = 2}).find("each of 2 ranks along dp keeps a share of its experts' state") !=
        std::string::npos);
  CHECK(log({.dp = 4, .ep = 2}, "4")
            .find("each of 4 replicas keeps a share of the optimizer's state; 2 groups of "
                  "replicas keep equal shares; each of 2 ranks of a group with equal experts keeps a share of its "
                  "experts' state") != std::string::npos);
  CHECK(log({.dp = 2, .ep = 2}, "2")
            .find("each rank keeps the whole state of its experts, because a group has no other rank with "
                  "these experts") != std::string::npos);
  // Biases that balance loads are no parameters of which a replica could keep a share only.
  CHECK(run_test::code_of([&] { fitted<balanced>(on_mesh({.ep = 2}, 2), 8, 8, 0); }) == 0);
  CHECK(run_test::code_of([&] { fitted<balanced>(on_mesh({.ep = 2}, 3), 8, 8, 0); }) == 64);
}

}  // namespace expert_shares_test
