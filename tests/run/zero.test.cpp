#include "shares.hpp"

#include <redco/run/worker.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/optimizer/groups.hpp>
#include <redco/optimizer/muon.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/adapt/plan/with_lora.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// Compares runs whose replicas keep shares of the training state (ZeRO) with runs without.

namespace zero_test {

using namespace redco;
using run_test::code_of;
using run_test::in;
using run_test::numbers;
using run_test::silence;
using shares_test::levels;
using shares_test::outcome;
using shares_test::with_zero;
using stage_test::distance;
using stage_test::language;
using stage_test::name_of;
using stage_test::tied;

/// Twenty steps, or as `change(options)` sets.
template <class Model, class Optimizer, class Change>
outcome changed(Model const& model, deployer_options const& where, Optimizer const& optimizer, Change const& change) {
  return shares_test::trained(model, language(), where, optimizer, [&](auto& o) {
    o.max_steps = 20;
    change(o);
  });
}

template <class Model, class Optimizer>
outcome trained(Model const& model, deployer_options const& where, Optimizer const& optimizer,
                std::int64_t micro_batch = 0) {
  return changed(model, where, optimizer, [&](auto& o) { o.micro_batch = micro_batch; });
}

constexpr adamw clipped{.lr = 2e-3, .clip_norm = 0.5};

template <class Model>
void check_equal(Model const& model, mesh const& on, std::int64_t micro_batch, char const* stages = "") {
  temporary_folder const folder;
  deployer_options where = in(folder.path, on);
  where.stages = stages;
  where.gradient_bucket = 1.0 / 1024;
  outcome const whole = trained(model, where, clipped, micro_batch);
  for (int const level : levels) {
    INFO(name_of(on) << ", micro-batches of " << micro_batch << ", level " << level);
    shares_test::check_equal(whole, trained(model, with_zero(where, level), clipped, micro_batch), 20);
  }
}

TEST_CASE("losses, norms, parameters and optimizer states are those of a run without shares") {
  for (mesh const& on :
       {mesh{.dp = 2}, {.dp = 3}, {.dp = 4}, {.dp = 2, .tp = 2}, {.dp = 3, .tp = 2}, {.dp = 4, .tp = 2}})
    check_equal(tied, on, 1);
  for (mesh const& on : {mesh{.dp = 3}, {.dp = 2, .tp = 2}}) check_equal(tied, on, 0);
  llama const shared{{.vocab = 23, .context = 16, .width = 12, .ffn = 20, .heads = 2, .kv_heads = 1, .layers = 2}};
  check_equal(shared, {.dp = 2, .tp = 2}, 1);
}

TEST_CASE("pipeline stages with shares exchange the gradients of tied weights before the sum") {
  check_equal(tied, {.pp = 2, .dp = 2}, 1);
  check_equal(tied, {.pp = 2, .dp = 3}, 0);
  check_equal(tied, {.pp = 4, .dp = 2}, 1);
  check_equal(tied, {.pp = 2, .dp = 2, .tp = 2}, 1);
  // The replicas share the tied embedding otherwise on the first stage than on the last.
  gpt2 uneven = tied;
  uneven.config.vocab = 200;
  check_equal(uneven, {.pp = 2, .dp = 2}, 1, "1,3");
  temporary_folder const folder;
  deployer_options where = in(folder.path, {.pp = 2, .dp = 2});
  where.overlap = true;
  where.gradient_bucket = 1.0 / 1024;
  outcome const refused = trained(tied, with_zero(where), clipped, 1);
  CHECK(refused.code == 64);
  CHECK(refused.reason.starts_with("--overlap with --zero and pipeline stages"));
  where.overlap = {};
  for (int const level : {2, 3}) {
    outcome const kept = changed(tied, with_zero(where, level), clipped, [](auto& o) { o.max_steps = 1; });
    CHECK(kept.log.find("; a pipeline stage keeps all its gradients") != std::string::npos);
    CHECK(kept.log.find("of the gradients") == std::string::npos);
    CHECK((kept.log.find("and of the parameters") != std::string::npos) == (level == 3));
  }
}

TEST_CASE("without clipping, parameters and states are bit-equal in f32 and bf16, also in buckets") {
  temporary_folder const folder;
  auto const six_steps = [](deployer_options const& run, std::int64_t micro_batch) {
    return changed(tied, run, adamw{.lr = 2e-3}, [&](auto& o) {
      o.micro_batch = micro_batch;
      o.max_steps = 6;
    });
  };
  for (dtype const type : {dtype::f32, dtype::bf16})
    for (mesh const& on : {mesh{.dp = 2}, {.dp = 3}, {.dp = 2, .tp = 2}})
      for (double const kibibytes : {0.0, 0.25, 4.0}) {
        INFO(name_of(on) << " " << redco::name_of(type) << " in buckets of " << kibibytes);
        deployer_options where = in(folder.path, on);
        where.dtype = type;
        if (kibibytes > 0) where.gradient_bucket = kibibytes / 1024;
        where.overlap = kibibytes > 0;
        shares_test::check_same_bits(six_steps(where, 1), six_steps(with_zero(where), 1));
        // Shares of gradients add up micro-batches in another order.
        where.overlap = {};
        outcome const at_once = six_steps(where, 0);
        for (int const level : {2, 3}) shares_test::check_same_bits(at_once, six_steps(with_zero(where, level), 0));
      }
}

/// The largest differences of losses, gradient norms and states, and of the losses of evaluations.
struct run_difference {
  double losses, norms, state, evaluation;
};

run_difference difference_of(outcome const& a, outcome const& b) {
  return {run_test::difference(a.losses, b.losses), run_test::difference(a.norms, b.norms), distance(a.state, b.state),
          std::abs(a.evaluation.at("loss") - b.evaluation.at("loss"))};
}

TEST_CASE("every optimizer that treats elements alone, frozen parameters, groups and adapters keep shares") {
  temporary_folder const folder;
  auto const check = [&](auto const& model, auto const& optimizer, std::vector<std::string> const& frozen = {},
                         dtype type = dtype::f64) {
    deployer_options where = in(folder.path, {.dp = 3});
    where.dtype = type;
    auto const change = [&](auto& o) {
      o.frozen = frozen;
      o.micro_batch = 1;
      o.max_steps = 6;
      o.eval = numbers(4);
    };
    outcome const whole = changed(model, where, optimizer, change);
    // The noise of bf16 is measured: the largest difference to whole runs on one and two replicas,
    // which sum in other orders. Shares of gradients round the sum of each micro-batch to bf16.
    run_difference noise{5e-11, 5e-11, 5e-11, 5e-11};
    for (int replicas = 1; type != dtype::f64 && replicas < 3; ++replicas) {
      deployer_options other = where;
      other.mesh = mesh{.dp = replicas};
      run_difference const found = difference_of(whole, changed(model, other, optimizer, change));
      noise.losses = std::max(noise.losses, found.losses);
      noise.norms = std::max(noise.norms, found.norms);
      noise.state = std::max(noise.state, found.state);
      noise.evaluation = std::max({noise.evaluation, found.evaluation, noise.losses * whole.losses.back()});
    }
    where.gradient_bucket = 1.0 / 1024;
    for (int const level : {1, 2, 3}) {
      outcome const shares = changed(model, with_zero(where, level), optimizer, change);
      INFO(optimizer.name << " level " << level << " " << whole.reason << shares.reason);
      REQUIRE(whole.losses.size() == 6);
      run_difference const found = difference_of(whole, shares);
      auto const bound = [&](double of_noise) { return type != dtype::f64 && level == 1 ? 1e-6 : 2 * of_noise; };
      CHECK(found.losses < bound(noise.losses));
      CHECK(found.norms < bound(noise.norms));
      CHECK(found.state < bound(noise.state));
      CHECK(found.evaluation < bound(noise.evaluation));
    }
  };
  check(tied, sgd{.lr = 1e-2, .momentum = 0.9});
  check(tied, optimizer::lion{.lr = 1e-3});
  check(tied, optimizer::schedule_free{.lr = {1e-3}});
  check(tied, optimizer::averaged(adamw{.lr = 1e-3}, 0.5));
  check(tied, optimizer::averaged(adamw{.lr = 1e-3}, 0.5), {}, dtype::bf16);
  check(tied, adamw{.lr = 1e-3}, {"wte.*", "h.1.*"});
  check(tied, adamw{.lr = 1e-3}, {"wte.*", "h.1.*"}, dtype::bf16);
  check(tied, optimizer::grouped(adamw{.lr = 1e-3}, {{.pattern = "*.weight", .weight_decay = 0.2}}, 0.8));
  check(with_lora<gpt2>{{tied.config, {.rank = 2, .targets = "q,v,down"}}}, adamw{.lr = 1e-3});
}

TEST_CASE("verification passes with shares, and messages are those of the plan") {
  temporary_folder const folder;
  bool overlap = true;
  for (dtype const type : {dtype::f64, dtype::f32})
    for (mesh const& on : {mesh{.dp = 2}, {.dp = 3}, {.dp = 2, .tp = 2}, {.pp = 2, .dp = 2}})
      for (int const level : {1, 1, 2}) {
        overlap = level == 1 && !overlap;
        if (overlap && on.pp > 1) continue;
        INFO(name_of(on) << " " << redco::name_of(type) << ", level " << level);
        deployer_options where = with_zero(in(folder.path, on), level);
        where.dtype = type;
        where.overlap = overlap;
        where.gradient_bucket = 1.0 / 1024;
        stage_test::check_verified(tied, where, clipped, 2 * on.dp);
      }
}

TEST_CASE("one replica runs with --zero and says that nothing is shared out") {
  temporary_folder const folder;
  outcome const one = trained(tied, with_zero(in(folder.path, {.dp = 1, .tp = 2})), clipped);
  CHECK(one.losses.size() == 20);
  CHECK(one.log.find("zero 1: nothing is shared out, because there is one replica") != std::string::npos);
  outcome const two = trained(tied, with_zero(in(folder.path, {.dp = 2})), clipped);
  CHECK(two.log.find("zero 1: each of 2 replicas keeps a share of the optimizer's state") != std::string::npos);
}

TEST_CASE("optimizers that update whole matrices and other levels are refused by name") {
  temporary_folder const folder;
  outcome const whole = trained(tied, with_zero(in(folder.path, {.dp = 2})), optimizer::muon{});
  CHECK(whole.code == 64);
  CHECK(whole.reason.find("--zero 1 and the optimizer muon: it updates whole matrices") != std::string::npos);
  CHECK(trained(tied, with_zero(in(folder.path, {.dp = 2})), optimizer::adafactor{}).code == 64);
  for (int const level : {-1, 4}) {
    outcome const other = trained(tied, with_zero(in(folder.path, {.dp = 2}), level), clipped);
    CHECK(other.code == 64);
    CHECK(other.reason.starts_with("--zero " + std::to_string(level)));
  }
  cost::setup run{.mesh = {.dp = 2}, .load = {2, 8}};
  run.zero.level = 1;
  CHECK(code_of([&] { static_cast<void>(cost::cost_of(tied, optimizer::muon{}, run)); }) == 64);
}

TEST_CASE("parameters without elements, with one element, and of sizes that the replicas do not divide") {
  std::vector<shard::placed_parameter> placed;
  auto const add = [&](std::string const& name, extents const& shape, mesh const& on) {
    shard::entry e{{}, on};
    e.fact.shape = shape;
    placed.push_back({name, e});
  };
  for (int const ranks : {2, 3, 4, 5})
    for (int const parameters : {1, 2, 3, 4}) {
      mesh const on{.dp = ranks};
      placed.clear();
      for (auto const& [name, shape] :
           std::vector<std::pair<std::string, extents>>{{"none", {0, 3}}, {"one", {}}, {"two", {1}}, {"three", {2, 3}}})
        if (static_cast<int>(placed.size()) < parameters) add(name, shape, on);
      for (dtype const type : {dtype::f32, dtype::bf16}) {
        std::vector<int> kept(64, 0);
        for (int rank = 0; rank < ranks; ++rank) {
          nn::parameter_store const store(placed, rank, type, 1, {}, redco::tensors::cpu_device(), {.level = 1});
          store.cut_masters();
          store.join_masters();
          for (auto const& one : store.kept())
            for (std::int64_t i = one.begin; i < one.end; ++i) ++kept[static_cast<std::size_t>(i)];
        }
        std::int64_t elements = 0;
        for (auto const& p : placed) elements += p.plan.fact.shape.count();
        CHECK(std::count(kept.begin(), kept.end(), 1) == elements);
        CHECK(std::count(kept.begin(), kept.end(), 0) == 64 - elements);
      }
    }
}

TEST_CASE("a worker's networks keep shares, follow in f32, and refuse to follow in bf16") {
  auto const step = [](dtype type, int level, std::int64_t examples = 3, std::int64_t most = 0) {
    silence const quiet;
    temporary_folder const folder;
    deployer_options where = with_zero(in(folder.path, {.dp = 2}), level);
    where.dtype = type;
    deployer deployer(where);
    std::vector<double> found(2);
    deployer.run([&](rank_context& rank) {
      worker loop(deployer, rank, {.steps = 3});
      auto& actor = loop.add("actor", tied, adamw{.lr = 1e-2});
      auto& target = loop.add("target", tied, sgd{}, {"*"});
      for (loop.resume(); !loop.finished(); loop.end_step()) {
        loop.update(actor, loop.micro_batches(examples, most), [&](pass const& in) {
          std::vector<std::int64_t> mine;
          for (std::int64_t i = 0; i < in.examples; ++i) mine.push_back(in.first_example + i);
          token_batch const b = stage_test::texts_of(mine);
          return cross_entropy(actor.in(in)(b.input_ids), b.labels);
        });
        worker::follow(actor, target, 0.5);
      }
      found[static_cast<std::size_t>(rank.rank)] = target.store.masters().to(at::kDouble).square().sum().item<double>();
    });
    return found;
  };
  CHECK(step(dtype::f32, 0) == step(dtype::f32, 1));
  CHECK(step(dtype::f32, 0) == step(dtype::f32, 2));
  // The replicas have two and one micro-batches, then one and none.
  for (std::int64_t const examples : {3, 1})
    CHECK(run_test::difference(step(dtype::f64, 0, examples, 1), step(dtype::f64, 2, examples, 1)) < 1e-12);
  CHECK(code_of([&] { step(dtype::bf16, 1); }) == 64);
}

}  // namespace zero_test
