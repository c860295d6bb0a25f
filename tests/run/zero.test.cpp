#include "stages.hpp"

#include "comm/values.hpp"

#include <redco/run/step.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/run/worker.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/pretrained/stored_names/gpt.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/llama.hpp>
#include <redco/optimizer/groups.hpp>
#include <redco/optimizer/muon.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/adapt/plan/adapter_folder.hpp>
#include <redco/adapt/plan/with_lora.hpp>
#include <redco/adapt/save_adapter.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// Compares runs whose replicas keep shares of the training state (ZeRO) with runs without.

namespace zero_test {

using namespace redco;
using comm_test::must;
using run_test::code_of;
using run_test::in;
using run_test::numbers;
using run_test::silence;
using stage_test::distance;
using stage_test::equal_files;
using stage_test::language;
using stage_test::name_of;
using stage_test::tied;
using stage_test::train_and_save;

template <class Model>
using options_of = run_test::options_of<Model, decltype(language())>;

/// The results of a fit, with the norm of each step's gradient.
struct outcome {
  run_test::outcome run;
  std::vector<double> norms;
};

/// Twenty steps of five examples, or as `change(options)` sets.
template <class Model, class Optimizer, class Change>
outcome changed(Model const& model, deployer_options const& where, Optimizer const& optimizer, Change const& change) {
  silence const quiet;
  outcome found;
  options_of<Model> o;
  o.epochs = 7;
  o.max_steps = 20;
  o.global_batch = 5;
  o.save_last = false;
  o.save_argmin = {};
  o.on_step = [&](fit_event const& e) {
    found.run.losses.push_back(e.loss);
    found.norms.push_back(e.grad_norm);
  };
  change(o);
  try {
    deployer deployer(where);
    redco::trainer trainer(deployer, model, language(), optimizer);
    found.run.evaluation = trainer.fit(numbers(13), o).evaluation;
    found.run.state = run_test::whole_state(trainer.states());
  } catch (error const& e) {
    found.run.code = static_cast<int>(e.code());
    found.run.reason = e.what();
  }
  found.run.log = quiet.text.str();
  return found;
}

template <class Model, class Optimizer>
outcome trained(Model const& model, deployer_options const& where, Optimizer const& optimizer,
                std::int64_t micro_batch = 0) {
  return changed(model, where, optimizer, [&](auto& o) { o.micro_batch = micro_batch; });
}

deployer_options with_zero(deployer_options where, int level = 1) {
  where.zero = level;
  return where;
}

constexpr adamw clipped{.lr = 2e-3, .clip_norm = 0.5};

template <class Model>
void check_equal(Model const& model, mesh const& on, std::int64_t micro_batch, char const* stages = "") {
  temporary_folder const folder;
  deployer_options where = in(folder.path, on);
  where.stages = stages;
  where.gradient_bucket = 1.0 / 1024;
  outcome const whole = trained(model, where, clipped, micro_batch);
  for (int const level : {1, 2, 3}) {
    INFO(name_of(on) << ", micro-batches of " << micro_batch << ", level " << level);
    outcome const shares = trained(model, with_zero(where, level), clipped, micro_batch);
    INFO(whole.run.reason << shares.run.reason);
    REQUIRE(whole.run.losses.size() == 20);
    CHECK(run_test::difference(whole.run.losses, shares.run.losses) < 1e-10);
    CHECK(run_test::difference(whole.norms, shares.norms) < 1e-10);
    CHECK(distance(whole.run.state, shares.run.state) < 1e-10);
  }
}

TEST_CASE("losses, norms, parameters and optimizer states are those of a run without shares") {
  for (mesh const& on : {mesh{.dp = 2}, {.dp = 3}, {.dp = 4}, {.dp = 2, .tp = 2}, {.dp = 3, .tp = 2}})
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
  CHECK(refused.run.code == 64);
  CHECK(refused.run.reason.starts_with("--overlap with --zero and pipeline stages"));
  where.overlap = {};
  for (int const level : {2, 3}) {
    outcome const kept = changed(tied, with_zero(where, level), clipped, [](auto& o) { o.max_steps = 1; });
    CHECK(kept.run.log.find("; a pipeline stage keeps all its gradients") != std::string::npos);
    CHECK(kept.run.log.find("of the gradients") == std::string::npos);
    CHECK((kept.run.log.find("and of the parameters") != std::string::npos) == (level == 3));
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
        outcome const whole = six_steps(where, 1), shares = six_steps(with_zero(where), 1);
        INFO(whole.run.reason << shares.run.reason);
        REQUIRE(whole.run.losses.size() == 6);
        CHECK(whole.run.losses == shares.run.losses);
        CHECK(run_test::bit_equal(whole.run.state, shares.run.state));
        // Shares of gradients add up micro-batches in another order.
        where.overlap = {};
        outcome const at_once = six_steps(where, 0), gradients = six_steps(with_zero(where, 2), 0);
        INFO(gradients.run.reason);
        REQUIRE(at_once.run.losses.size() == 6);
        CHECK(at_once.run.losses == gradients.run.losses);
        CHECK(run_test::bit_equal(at_once.run.state, gradients.run.state));
        outcome const values = six_steps(with_zero(where, 3), 0);
        INFO(values.run.reason);
        CHECK(at_once.run.losses == values.run.losses);
        CHECK(run_test::bit_equal(at_once.run.state, values.run.state));
      }
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
    where.gradient_bucket = 1.0 / 1024;
    for (int const level : {1, 2, 3}) {
      // Shares of gradients round the sum of each micro-batch to bf16.
      double const tolerance = type == dtype::f64 ? 1e-10 : level == 1 ? 1e-6 : 0.1;
      outcome const shares = changed(model, with_zero(where, level), optimizer, change);
      INFO(optimizer.name << " level " << level << " " << whole.run.reason << shares.run.reason);
      REQUIRE(whole.run.losses.size() == 6);
      CHECK(run_test::difference(whole.run.losses, shares.run.losses) < std::min(tolerance, 1e-2));
      CHECK(run_test::difference(whole.norms, shares.norms) < tolerance);
      CHECK(distance(whole.run.state, shares.run.state) < tolerance);
      CHECK(std::abs(whole.run.evaluation.at("loss") - shares.run.evaluation.at("loss")) < std::min(tolerance, 1e-2));
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

/// Bytes of the state of one rank.
struct held_bytes {
  std::int64_t parameters = 0, masters = 0, gradients = 0, slots = 0, all = 0, workspace = 0;
};

held_bytes measured(mesh const& on, dtype type, int level) {
  std::vector<held_bytes> found(static_cast<std::size_t>(on.ranks()));
  comm::run_ranks(on, {.first_deadline = std::chrono::seconds(200), .threads = 1}, [&](rank_context& me) {
    auto const counter = std::make_shared<redco::tensors::memory_counter>();
    redco::tensors::memory_counter::scope const counting(counter);
    run::trained_network<gpt2> const net(tied, plan_of(tied, me.mesh), adamw{}, type, 3, me.rank, {},
                                         redco::tensors::cpu_device(), {.level = level});
    held_bytes& held = found[static_cast<std::size_t>(me.rank)];
    auto const bytes = [](at::Tensor const& x) { return static_cast<std::int64_t>(x.storage().nbytes()); };
    held.parameters = bytes(net.store.values());
    held.gradients = bytes(net.store.gradients());
    for (update::segment const& s : net.segments)
      for (at::Tensor const& slot : s.slots) held.slots += static_cast<std::int64_t>(slot.nbytes());
    held.all = counter->current();
    held.masters = held.all - held.parameters - held.gradients - held.slots;
    counter->reset_peak();
    net.gather_values(me);
    held.workspace = counter->peak() - held.all;
    must(counter->current() == held.all, "a gather gives back what it allocates");
  });
  held_bytes most;
  for (held_bytes const& one : found)
    if (one.all > most.all) most = one;
  return most;
}

TEST_CASE("a rank holds a share of gradients, masters and optimizer state, to the byte as planned") {
  for (dtype const type : {dtype::f64, dtype::f32, dtype::bf16})
    for (mesh const& on : {mesh{.dp = 2}, {.dp = 3}, {.dp = 4}, {.dp = 2, .tp = 2}})
      for (int const level : {0, 1, 2}) {
        INFO(name_of(on) << ", " << redco::name_of(type) << ", level " << level);
        cost::setup run{.mesh = on, .load = {2, 8}, .compute = type};
        run.zero = level;
        cost::memory const plan = cost::cost_of(tied, adamw{}, run).memory;
        held_bytes const held = measured(on, type, level);
        CHECK(held.parameters == plan.parameters);
        CHECK(held.masters == plan.masters);
        CHECK(held.gradients == plan.gradients);
        CHECK(held.slots == plan.optimizer);
        CHECK(held.all == plan.persistent() - plan.batches);
        CHECK(held.workspace == plan.shares_workspace);
      }
  cost::setup run{.mesh = {.dp = 4}, .load = {2, 8}, .compute = dtype::bf16};
  std::int64_t const whole = cost::cost_of(tied, adamw{}, run).memory.optimizer;
  run.zero = 1;
  CHECK(cost::cost_of(tied, adamw{}, run).memory.optimizer < whole / 4 + 16);
}

TEST_CASE("the most bytes that a step holds fall by the bytes of the shares that other replicas keep") {
  auto const peak = [](dtype type, int replicas, int level) {
    silence const quiet;
    temporary_folder const folder;
    deployer_options where = with_zero(in(folder.path, {.dp = replicas}), level);
    where.dtype = type;
    where.gradient_bucket = 0.25 / 1024;
    deployer deployer(where);
    redco::trainer trainer(deployer, tied, language(), adamw{.lr = 1e-3});
    options_of<gpt2> o;
    o.max_steps = 3;
    o.global_batch = 4;
    o.save_last = false;
    o.save_argmin = {};
    return trainer.fit(numbers(13), o).measures.front().peak_bytes;
  };
  for (dtype const type : {dtype::f32, dtype::bf16})
    for (int const replicas : {2, 4}) {
      INFO(redco::name_of(type) << ", " << replicas << " replicas");
      cost::setup run{.mesh = {.dp = replicas}, .load = {2, 8}, .compute = type};
      std::int64_t const whole = cost::cost_of(tied, adamw{}, run).memory.persistent(), most = peak(type, replicas, 0);
      run.gradient_bucket = 256;
      for (int const level : {1, 2}) {
        INFO("level " << level);
        run.zero = level;
        cost::memory const plan = cost::cost_of(tied, adamw{}, run).memory;
        // Buckets may be in memory at the moment with the most bytes.
        std::int64_t const buckets = whole - plan.persistent() - (most - peak(type, replicas, level));
        CHECK(buckets >= 0);
        CHECK(buckets <= plan.gradient_buckets);
      }
    }
}

TEST_CASE("frozen masters stay whole, and only trained parameters have shares") {
  mesh const on{.dp = 2};
  std::vector<std::string> const frozen{"wte.*", "h.0.*", "h.1.*", "h.2.*"};
  comm::run_ranks(on, {.first_deadline = std::chrono::seconds(200), .threads = 1}, [&](rank_context& me) {
    run::trained_network<gpt2> const net(tied, plan_of(tied, me.mesh), adamw{}, dtype::bf16, 3, me.rank, frozen,
                                         redco::tensors::cpu_device(), {.level = 1});
    std::int64_t trained = 0, held = 0;
    for (auto const& p : net.store.parameters()) {
      if (p.trainable) trained += p.value.numel();
      else must(p.master.square().sum().item<double>() >= 0 && at::equal(p.master.to(at::kBFloat16), p.value), p.name);
    }
    for (update::segment const& s : net.segments) held += s.param.numel();
    must(held == trained / 2, "half of the trained parameters");
  });
  // An adapter's frozen weights keep their masters.
  with_lora<gpt2> const lora{{tied.config, {.rank = 2, .targets = "qkv,down"}}};
  cost::setup run{.mesh = on, .load = {2, 8}, .compute = dtype::bf16};
  cost::memory const whole = cost::cost_of(lora, adamw{}, run).memory;
  run.zero = 1;
  cost::memory const shares = cost::cost_of(lora, adamw{}, run).memory;
  std::int64_t const trained = whole.optimizer / 8;
  CHECK(shares.masters == whole.masters - trained / 2 * 4);
  CHECK(shares.optimizer == whole.optimizer / 2);
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

TEST_CASE("a checkpoint of any mesh and level is loaded by any other, bit for bit") {
  struct layout {
    mesh on;
    int level;
  };
  layout const layouts[] = {{{.dp = 1}, 0},          {{.dp = 2}, 1},          {{.dp = 3, .tp = 2}, 1},
                            {{.dp = 2, .tp = 2}, 0}, {{.pp = 2, .dp = 2}, 1}, {{.dp = 4}, 1},
                            {{.dp = 2, .tp = 2}, 2}, {{.dp = 3}, 3},          {{.dp = 2, .tp = 2}, 3}};
  for (dtype const type : {dtype::f64, dtype::bf16})
    for (std::size_t i = 0; i < std::size(layouts); ++i) {
      layout const& saving = layouts[i];
      temporary_folder const folder;
      deployer_options where = with_zero(in(folder.path, saving.on), saving.level);
      where.dtype = type;
      auto const two_steps = [](auto& o) {
        o.max_steps = 2;
        o.save_last = true;
      };
      outcome const saved = changed(tied, where, clipped, two_steps);
      INFO(name_of(saving.on) << " level " << saving.level << ": " << saved.run.reason);
      REQUIRE(saved.run.losses.size() == 2);
      // Each layout loads the checkpoints of three others.
      for (std::size_t const next : {1U, 3U, 7U}) {
        layout const& loading = layouts[(i + next) % std::size(layouts)];
        INFO("loaded on " << name_of(loading.on) << " level " << loading.level);
        where = with_zero(in(folder.path, loading.on), loading.level);
        where.dtype = type;
        where.resume = "auto";
        outcome const loaded = changed(tied, where, clipped, two_steps);
        INFO(loaded.run.reason);
        CHECK(loaded.run.losses.empty());
        CHECK(run_test::bit_equal(saved.run.state, loaded.run.state));
      }
    }
}

TEST_CASE("saved models and adapters, warm starts and averages are those of a run without shares") {
  with_lora<gpt2> const lora{{tied.config, {.rank = 2, .targets = "qkv,down"}}};
  auto const save = [](auto const& model, std::filesystem::path const& to, int level, auto const& optimizer,
                       auto const&... start) {
    deployer_options where = with_zero(in({}, {.dp = 3}), level);
    where.dtype = dtype::bf16;
    train_and_save(model, where, optimizer, to, start...);
  };
  temporary_folder const folder;
  for (int const level : {0, 1, 2, 3}) {
    std::filesystem::path const to = folder.path / std::to_string(level);
    save(tied, to / "plain", level, adamw{.lr = 1e-2});
    save(tied, to / "average", level, optimizer::averaged(adamw{.lr = 1e-2}, 0.5));
    save(tied, to / "started", level, adamw{.lr = 1e-2}, folder.path / "0/plain/model");
    save(lora, to / "lora", level, adamw{.lr = 1e-2});
  }
  for (char const* what : {"plain/model", "average/model", "started/model", "lora/model", "lora/adapter"}) {
    INFO(what);
    for (char const* level : {"1", "2", "3"}) CHECK(equal_files(folder.path / "0" / what, folder.path / level / what));
  }
}

TEST_CASE("one replica runs with --zero and says that nothing is shared out") {
  temporary_folder const folder;
  outcome const one = trained(tied, with_zero(in(folder.path, {.dp = 1, .tp = 2})), clipped);
  CHECK(one.run.losses.size() == 20);
  CHECK(one.run.log.find("zero 1: nothing is shared out, because there is one replica") != std::string::npos);
  outcome const two = trained(tied, with_zero(in(folder.path, {.dp = 2})), clipped);
  CHECK(two.run.log.find("zero 1: each of 2 replicas keeps a share of the optimizer's state") != std::string::npos);
}

TEST_CASE("optimizers that update whole matrices and other levels are refused by name") {
  temporary_folder const folder;
  outcome const whole = trained(tied, with_zero(in(folder.path, {.dp = 2})), optimizer::muon{});
  CHECK(whole.run.code == 64);
  CHECK(whole.run.reason.find("--zero 1 and the optimizer muon: it updates whole matrices") != std::string::npos);
  CHECK(trained(tied, with_zero(in(folder.path, {.dp = 2})), optimizer::adafactor{}).run.code == 64);
  for (int const level : {-1, 4}) {
    outcome const other = trained(tied, with_zero(in(folder.path, {.dp = 2}), level), clipped);
    CHECK(other.run.code == 64);
    CHECK(other.run.reason.starts_with("--zero " + std::to_string(level)));
  }
  cost::setup run{.mesh = {.dp = 2}, .load = {2, 8}};
  run.zero = 1;
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
