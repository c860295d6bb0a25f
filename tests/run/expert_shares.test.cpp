#include "experts.hpp"

#include <redco/run/step.hpp>
#include <redco/run/step_work.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/run/verify.hpp>
#include <redco/nn/pass.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/shard/facts.hpp>
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

held_bytes measured(mesh const& on, dtype type, int level) {
  std::vector<held_bytes> found(static_cast<std::size_t>(on.ranks()));
  comm::run_ranks(on, {.first_deadline = std::chrono::seconds(200), .threads = 1}, [&](rank_context& me) {
    auto const counter = std::make_shared<redco::tensors::memory_counter>();
    redco::tensors::memory_counter::scope const counting(counter);
    run::trained_network<descended> const net({}, plan_of(descended{}, me.mesh), adamw{}, type, 3, me.rank, {},
                                              redco::tensors::cpu_device(), {.level = level, .bucket = 512});
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

TEST_CASE("a rank with some experts holds a share of the state, to the byte as planned") {
  for (mesh const& on : {mesh{.ep = 2}, {.ep = 4}, {.dp = 2, .ep = 2}, {.dp = 3, .ep = 2}, {.dp = 2, .ep = 2, .tp = 2}})
    for (dtype const type : {dtype::f64, dtype::f32, dtype::bf16})
      for (int const level : {0, 1, 2, 3}) {
        INFO(name_of(on) << ", " << redco::name_of(type) << ", level " << level);
        cost::setup run{.mesh = on, .load = {2, 8}, .compute = type};
        run.zero = level;
        run.gradient_bucket = 512;
        cost::memory const plan = cost::cost_of(descended{}, adamw{}, run).memory;
        held_bytes const held = measured(on, type, level);
        CHECK(held.gradients == plan.gradients);
        CHECK(held.slots == plan.optimizer);
        CHECK(held.all == plan.persistent() - plan.batches);
        if (level < 3) CHECK(held.workspace == plan.shares_workspace);
      }
}

TEST_CASE("ranks along ep share dense state only: the experts' state is divided by dp alone") {
  auto const slots = [](mesh const& on, int level) {
    cost::setup run{.mesh = on, .load = {2, 8}};
    run.zero = level;
    return cost::cost_of(descended{}, adamw{}, run).memory.optimizer;
  };
  std::int64_t dense = 0, experts = 0;
  for (auto const& p : shard::facts_of(descended{}).parameters)
    (p.why == fact::reason::expert ? experts : dense) += p.shape.count() * p.copies() * 8;
  CHECK(slots({.ep = 2}, 0) == dense + experts / 2);
  CHECK(slots({.ep = 2}, 1) == dense / 2 + experts / 2);
  CHECK(slots({.dp = 2, .ep = 2}, 1) == dense / 4 + experts / 4);
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

TEST_CASE("messages of shares are those of the plan: dense state over dp and ep, experts over dp") {
  for (int const level : {1, 2}) {
    mesh const on{.dp = 2, .ep = 2};
    INFO("level " << level);
    cost::setup run{.mesh = on, .load = {2, 9}, .compute = dtype::f64};
    run.zero = level;
    run.gradient_bucket = 512;
    std::map<std::uint8_t, redco::shape::traffic::entry> planned;
    for (cost::message_total const& one : cost::cost_of(descended{}, adamw{}, run).messages)
      if (one.purpose == cost::messages::name_of_gradients || one.purpose == cost::messages::name_of_parameters)
        planned[one.over.bits] += one;
    redco::shape::traffic dense, experts;
    comm::run_ranks(on, {.threads = 1}, [&](rank_context& me) {
      run::trained_network<descended> net({}, plan_of(descended{}, on), adamw{}, dtype::f64, 3, me.rank, {},
                                          redco::tensors::cpu_device(), {.level = level, .bucket = 512});
      one_batch work(net, me);
      run::step_executor(net, me, {}).run(work, {0, 1});
      if (me.rank != 0) return;
      dense = me.group(redco::shape::token_axes).counters();
      experts = me.group(redco::shape::axis::dp | redco::shape::axis::cp).counters();
    });
    using redco::shape::collective;
    auto const sent = [](redco::shape::traffic const& all) {
      redco::shape::traffic::entry sum = all[collective::reduce_scatter];
      sum += all[collective::all_gather];
      return sum;
    };
    CHECK(planned.size() == 2);
    CHECK(sent(dense) == planned[redco::shape::token_axes.bits]);
    CHECK(sent(experts) == planned[(redco::shape::axis::dp | redco::shape::axis::cp).bits]);
  }
}

TEST_CASE("a step of the program's own is refused with experts at level 2, also if the program makes it") {
  auto const code_of_step = [](int level, bool in_one) {
    return run_test::code_of([&] {
      comm::run_ranks({.ep = 2}, {.threads = 1}, [&](rank_context& me) {
        run::trained_network<descended> net({}, plan_of(descended{}, me.mesh), adamw{}, dtype::f64, 3, me.rank, {},
                                            redco::tensors::cpu_device(), {.level = level, .bucket = 512});
        run::step_executor step(net, me, {.in_one = in_one});
        step.add(one_batch(net, me).loss(0, {}, nullptr));
        step.finish({0, 1});
      });
    });
  };
  for (bool const in_one : {false, true}) {
    CHECK(code_of_step(1, in_one) == 0);
    CHECK(code_of_step(2, in_one) == 64);
  }
}

TEST_CASE("the log says who shares the state of experts, and owners of whole matrices are refused with ep") {
  auto const log = [](mesh const& on) { return fitted<descended>(on_mesh(on, 1), 8, 8, 0).log; };
  CHECK(log({.ep = 2}).find("zero 1: each of 2 replicas keeps a share of the optimizer's state; each rank keeps the "
                            "whole state of its experts, because dp is 1") != std::string::npos);
  CHECK(log({.dp = 2, .ep = 2}).find("each of 2 ranks along dp keeps a share of its experts' state") !=
        std::string::npos);
  deployer_options where = on_mesh({.ep = 2}, 1);
  where.zero_owner = redco::shape::zero_owner::whole;
  CHECK(run_test::code_of([&] { fitted<descended>(where, 8, 8, 0); }) == 64);
  // Biases that balance loads are no parameters of which a replica could keep a share only.
  CHECK(run_test::code_of([&] { fitted<balanced>(on_mesh({.ep = 2}, 2), 8, 8, 0); }) == 0);
  CHECK(run_test::code_of([&] { fitted<balanced>(on_mesh({.ep = 2}, 3), 8, 8, 0); }) == 64);
}

}  // namespace expert_shares_test
