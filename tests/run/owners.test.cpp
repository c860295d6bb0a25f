#include "stages.hpp"

#include "comm/values.hpp"

#include <redco/run/gradient_shares.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/run/worker.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/pretrained/stored_names/gpt.hpp>
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
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
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
using run_test::silence;
using stage_test::distance;
using stage_test::language;
using stage_test::name_of;
using stage_test::tied;

template <class Model>
using options_of = run_test::options_of<Model, decltype(language())>;

/// The results of a fit, with the norm of each step's gradient.
struct outcome : run_test::outcome {
  std::vector<double> norms;
};

/// Six steps of five examples of different lengths, or as `change(options)` sets.
template <class Model, class Optimizer, class Change>
outcome changed(Model const& model, deployer_options const& where, Optimizer const& optimizer, Change const& change) {
  silence const quiet;
  outcome found;
  options_of<Model> o;
  o.epochs = 7;
  o.max_steps = 6;
  o.global_batch = 5;
  o.micro_batch = 1;
  o.save_last = false;
  o.save_argmin = {};
  o.on_step = [&](fit_event const& e) {
    found.losses.push_back(e.loss);
    found.norms.push_back(e.grad_norm);
  };
  change(o);
  try {
    deployer deployer(where);
    redco::trainer trainer(deployer, model, language(), optimizer);
    found.evaluation = trainer.fit(numbers(13), o).evaluation;
    found.state = run_test::whole_state(trainer.states());
  } catch (error const& e) {
    found.code = static_cast<int>(e.code());
    found.reason = e.what();
  } catch (std::exception const& e) {
    found.code = 70;
    found.reason = e.what();
  }
  found.log = quiet.text.str();
  return found;
}

template <class Model, class Optimizer>
outcome trained(Model const& model, deployer_options const& where, Optimizer const& optimizer) {
  return changed(model, where, optimizer, [](auto&) {});
}

deployer_options with_owner(deployer_options where, shape::zero_owner owner = shape::zero_owner::whole) {
  where.zero = 1;
  where.zero_owner = owner;
  return where;
}

deployer_options with_level(deployer_options where, int level) {
  where = with_owner(where);
  where.zero = level;
  where.gradient_bucket = 0.25 / 1024;
  return where;
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
      owners = trained(model, with_level(where, level), optimizer);
      INFO("level " << level << " " << all.reason << owners.reason);
      REQUIRE(all.losses.size() == 6);
      CHECK(run_test::difference(all.losses, owners.losses) < 1e-10);
      CHECK(run_test::difference(all.norms, owners.norms) < 1e-10);
      CHECK(distance(all.state, owners.state) < 1e-10);
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
    outcome const elements = trained(tied, with_owner(in(folder.path, on), shape::zero_owner::element), clipped);
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
        outcome const all = trained(tied, where, optimizer), owners = trained(tied, with_owner(where), optimizer);
        INFO(all.reason << owners.reason);
        REQUIRE(all.losses.size() == 6);
        CHECK(all.losses == owners.losses);
        CHECK(run_test::bit_equal(all.state, owners.state));
        // Shares of gradients add up micro-batches in another order.
        auto const at_once = [](auto& o) { o.micro_batch = 0; };
        outcome const whole = changed(tied, where, optimizer, at_once);
        for (int const level : {2, 3}) {
          outcome const shares = changed(tied, with_level(where, level), optimizer, at_once);
          INFO("level " << level << " " << shares.reason);
          CHECK(whole.losses == shares.losses);
          CHECK(run_test::bit_equal(whole.state, shares.state));
        }
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
      outcome const owners = changed(model, with_level(where, level), optimizer, change);
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

/// Bytes of the state of the rank that holds most of it.
struct held_bytes {
  std::int64_t parameters = 0, gradients = 0, masters = 0, slots = 0;
  std::int64_t all() const { return parameters + gradients + masters + slots; }
};

template <class Optimizer>
held_bytes measured(mesh const& on, dtype type, Optimizer const& optimizer, int level) {
  std::vector<held_bytes> found(static_cast<std::size_t>(on.ranks()));
  comm::run_ranks(on, {.first_deadline = std::chrono::seconds(200), .threads = 1}, [&](rank_context& me) {
    run::trained_network<gpt2> const net(tied, plan_of(tied, me.mesh), optimizer, type, 3, me.rank, {},
                                         redco::tensors::cpu_device(),
                                         {.level = level, .bucket = 512, .owner = shape::zero_owner::whole});
    auto const bytes = [](at::Tensor const& x) { return static_cast<std::int64_t>(x.storage().nbytes()); };
    held_bytes& held = found[static_cast<std::size_t>(me.rank)];
    held.parameters = bytes(level == 3 ? net.store.kept_values() : net.store.values());
    held.gradients = bytes(net.store.gradients());
    if (net.store.has_masters()) held.masters = bytes(net.store.kept_masters());
    for (update::segment const& s : net.segments)
      for (at::Tensor const& slot : s.slots) held.slots += static_cast<std::int64_t>(slot.nbytes());
  });
  held_bytes most;
  for (held_bytes const& one : found)
    if (one.all() > most.all()) most = one;
  return most;
}

TEST_CASE("owners of whole matrices hold as many bytes as planned, with padding") {
  for (dtype const type : {dtype::f32, dtype::bf16})
    for (mesh const& on : {mesh{.dp = 2}, {.dp = 3}, {.dp = 7}, {.dp = 2, .tp = 2}}) {
      auto const check = [&](auto const& optimizer) {
        cost::setup run{.mesh = on, .load = {2, 8}, .compute = type};
        std::int64_t const all = cost::cost_of(tied, optimizer, run).memory.optimizer;
        run.zero_owner = shape::zero_owner::whole;
        run.gradient_bucket = 512;
        for (run.zero = 1; run.zero <= 3; ++run.zero) {
          INFO(name_of(on) << " " << redco::name_of(type) << " " << optimizer.name << " level " << run.zero);
          cost::memory const plan = cost::cost_of(tied, optimizer, run).memory;
          held_bytes const held = measured(on, type, optimizer, run.zero);
          CHECK(held.parameters == plan.parameters);
          CHECK(held.gradients == plan.gradients);
          CHECK(held.masters == plan.masters);
          CHECK(held.slots == plan.optimizer);
          CHECK(plan.optimizer < all);
        }
      };
      check(muon{});
      check(adafactor{});
      check(adamw{});
    }
  cost::setup run{.mesh = {.dp = 2}, .load = {2, 8}};
  std::int64_t const all = cost::cost_of(tied, muon{}, run).memory.optimizer;
  run.zero = 1;
  run.zero_owner = shape::zero_owner::whole;
  // Four equal blocks have two owners.
  CHECK(cost::cost_of(tied, muon{}, run).memory.optimizer <= all / 2 + 8);
  // The matrices of one block have other owners than those of the next.
  cost::memory const whole = cost::cost_of(tied, muon{}, {.mesh = {.dp = 2}, .load = {2, 8}}).memory;
  run.zero = 3;
  cost::memory const shares = cost::cost_of(tied, muon{}, run).memory;
  CHECK(shares.optimizer <= all / 2 + 8);
  CHECK(shares.parameters <= whole.parameters / 2 + 64);
  CHECK(shares.gradients <= whole.gradients / 2 + 64);
}

TEST_CASE("gradients of owned matrices wait for their sum block by block, in as many bytes as planned") {
  for (mesh const& on : {mesh{.dp = 2}, {.dp = 3}, {.dp = 2, .tp = 2}}) {
    INFO(name_of(on));
    cost::setup run{.mesh = on, .load = {2, 8}};
    run.zero = 2;
    run.zero_owner = shape::zero_owner::whole;
    run.gradient_bucket = 512;
    cost::memory const memory = cost::cost_of(tied, muon{}, run).memory;
    std::int64_t const planned = memory.gradient_buckets;
    CHECK(planned < memory.parameters / 2);  // the layers outside blocks, and one of four blocks
    std::vector<std::int64_t> found(static_cast<std::size_t>(on.ranks()));
    comm::run_ranks(on, {.first_deadline = std::chrono::seconds(200), .threads = 1}, [&](rank_context& me) {
      auto const counter = std::make_shared<redco::tensors::memory_counter>();
      redco::tensors::memory_counter::scope const counting(counter);
      run::trained_network<gpt2> const net(tied, plan_of(tied, me.mesh), muon{}, dtype::f32, 3, me.rank, {},
                                           redco::tensors::cpu_device(),
                                           {.level = 2, .bucket = 512, .owner = shape::zero_owner::whole});
      run::gradient_shares sums(*net.net, me);
      std::int64_t const before = counter->current();
      counter->reset_peak();
      std::int64_t own = 0;
      for (std::size_t i = net.net->parameters().size(); i-- > 0;) {
        at::Tensor const& leaf = net.net->parameters()[i];
        leaf.mutable_grad() = at::ones_like(leaf);
        own = std::max(own, static_cast<std::int64_t>(leaf.nbytes()));
        sums.end({static_cast<std::int32_t>(i)});
      }
      sums.end_round();
      found[static_cast<std::size_t>(me.rank)] = counter->peak() - before - own;
      must(counter->current() == before, "a round frees its buckets");
      must(at::equal(net.store.gradients(), at::full_like(net.store.gradients(), me.mesh.dp)), "sums");
    });
    for (std::int64_t const bytes : found) {
      CHECK(bytes <= planned);
      CHECK(bytes >= planned / 2);
    }
  }
}

TEST_CASE("verification passes with owners of whole matrices, and messages are those of the plan") {
  temporary_folder const folder;
  for (mesh const& on : {mesh{.dp = 3}, {.dp = 2, .tp = 2}, {.pp = 2, .dp = 2}}) {
    auto const check = [&](auto const& optimizer) {
      for (int const level : {1, 2, 3}) {
        INFO(name_of(on) << " " << optimizer.name << " level " << level);
        stage_test::check_verified(tied, with_level(in(folder.path, on), level), optimizer, 2 * on.dp);
      }
    };
    check(muon{.lr = 1e-2, .clip_norm = 0.5});
    check(adafactor{.clip_norm = 0.5});
  }
}

TEST_CASE("a checkpoint of any mesh and owner is loaded by any other, bit for bit") {
  struct layout {
    mesh on;
    bool owns;
    int level = 1;
  };
  layout const layouts[] = {{{.dp = 1}, false},          {{.dp = 2}, true},          {{.dp = 3, .tp = 2}, true, 2},
                            {{.dp = 2, .tp = 2}, false}, {{.pp = 2, .dp = 2}, true}, {{.dp = 2, .tp = 2}, true, 3}};
  auto const check = [&](auto const& optimizer, dtype type, shape::zero_owner other, int level) {
    for (std::size_t i = 0; i < std::size(layouts); ++i) {
      layout const& saving = layouts[i];
      temporary_folder const folder;
      auto const where = [&](layout const& of) {
        deployer_options o = in(folder.path, of.on);
        o.dtype = type;
        if (of.owns) return with_level(o, of.level);
        o.zero_owner = other;
        o.zero = level;
        return o;
      };
      auto const two_steps = [](auto& o) {
        o.max_steps = 2;
        o.save_last = true;
      };
      outcome const saved = changed(tied, where(saving), optimizer, two_steps);
      INFO(optimizer.name << ", " << name_of(saving.on) << " " << saved.reason);
      REQUIRE(saved.losses.size() == 2);
      // Each layout loads the checkpoints of two others.
      for (std::size_t const next : {1U, 3U}) {
        layout const& loading = layouts[(i + next) % std::size(layouts)];
        INFO("loaded on " << name_of(loading.on));
        deployer_options resumed = where(loading);
        resumed.resume = "auto";
        outcome const loaded = changed(tied, resumed, optimizer, two_steps);
        INFO(loaded.reason);
        CHECK(loaded.losses.empty());
        CHECK(run_test::bit_equal(saved.state, loaded.state));
      }
    }
  };
  check(muon{.lr = 1e-2}, dtype::f64, shape::zero_owner::element, 0);
  check(adafactor{}, dtype::bf16, shape::zero_owner::element, 0);
  check(adamw{.lr = 1e-2}, dtype::bf16, shape::zero_owner::element, 1);
}

TEST_CASE("saved models and steps of a worker are those of a run in which each replica updates all") {
  temporary_folder const folder;
  auto const save = [&](shape::zero_owner owner, int level, char const* to) {
    deployer_options where = in({}, {.dp = 3});
    where.dtype = dtype::bf16;
    where.zero = level;
    where.zero_owner = owner;
    stage_test::train_and_save(tied, where, muon{.lr = 1e-2}, folder.path / to);
  };
  save(shape::zero_owner::element, 0, "all");
  for (int const level : {1, 2, 3}) {
    INFO("level " << level);
    std::string const to = "owners" + std::to_string(level);
    save(shape::zero_owner::whole, level, to.c_str());
    CHECK(stage_test::equal_files(folder.path / "all/model", folder.path / to / "model"));
  }

  auto const norms = [&](int level) {
    silence const quiet;
    temporary_folder const own;
    deployer_options where = in(own.path, {.dp = 2});
    where.dtype = dtype::f64;
    deployer deployer(level > 0 ? with_level(where, level) : where);
    std::vector<double> found(2);
    deployer.run([&](rank_context& rank) {
      worker loop(deployer, rank, {.steps = 3});
      auto& net = loop.add("net", tied, muon{.lr = 1e-2});
      for (loop.resume(); !loop.finished(); loop.end_step())
        loop.update(net, loop.micro_batches(3, 1), [&](pass const& in) {
          token_batch const b = stage_test::texts_of(std::vector<std::int64_t>{in.first_example});
          return cross_entropy(net.in(in)(b.input_ids), b.labels);
        });
      double sum = 0;
      for (auto const& p : net.store.parameters()) sum += p.value.square().sum().item<double>();
      found[static_cast<std::size_t>(rank.rank)] = sum;
    });
    return found;
  };
  for (int const level : {1, 2}) CHECK(run_test::difference(norms(0), norms(level)) < 1e-12);
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
  auto const elements = with_owner(where, shape::zero_owner::element);
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
