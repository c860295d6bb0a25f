#include "shares.hpp"

#include "comm/values.hpp"

#include <redco/run/gradient_shares.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/optimizer/muon.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/zero.hpp>
#include <redco/adapt/plan/with_lora.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// Compares the bytes of a rank with the plan, in runs whose replicas keep shares of state and
// gradients (ZeRO 1 and 2), or own whole matrices.

namespace zero_bytes_test {

using namespace redco;
using comm_test::must;
using optimizer::adafactor;
using optimizer::muon;
using run_test::in;
using run_test::numbers;
using run_test::silence;
using stage_test::language;
using stage_test::name_of;
using stage_test::tied;

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
        run.zero.level = level;
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
  run.zero.level = 1;
  CHECK(cost::cost_of(tied, adamw{}, run).memory.optimizer < whole / 4 + 16);
}

TEST_CASE("the most bytes that a step holds fall by the bytes of the shares that other replicas keep") {
  auto const peak = [](dtype type, int replicas, int level) {
    silence const quiet;
    temporary_folder const folder;
    deployer_options where = shares_test::with_zero(in(folder.path, {.dp = replicas}), level);
    where.dtype = type;
    where.gradient_bucket = 0.25 / 1024;
    deployer deployer(where);
    redco::trainer trainer(deployer, tied, language(), adamw{.lr = 1e-3});
    run_test::options_of<gpt2, decltype(language())> o;
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
      run.zero.bucket = 256;
      for (int const level : {1, 2}) {
        INFO("level " << level);
        run.zero.level = level;
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
  run.zero.level = 1;
  cost::memory const shares = cost::cost_of(lora, adamw{}, run).memory;
  std::int64_t const trained = whole.optimizer / 8;
  CHECK(shares.masters == whole.masters - trained / 2 * 4);
  CHECK(shares.optimizer == whole.optimizer / 2);
}

/// Bytes of the state of the rank that holds most of it, if matrices belong to replicas.
struct owned_bytes {
  std::int64_t parameters = 0, gradients = 0, masters = 0, slots = 0;
  std::int64_t all() const { return parameters + gradients + masters + slots; }
};

template <class Optimizer>
owned_bytes measured_owners(cost::setup const& run, Optimizer const& optimizer) {
  mesh const& on = run.mesh;
  std::vector<owned_bytes> found(static_cast<std::size_t>(on.ranks()));
  comm::run_ranks(on, {.first_deadline = std::chrono::seconds(200), .threads = 1}, [&](rank_context& me) {
    run::trained_network<gpt2> const net(tied, plan_of(tied, me.mesh), optimizer, run.compute, 3, me.rank, {},
                                         redco::tensors::cpu_device(),
                                         {.level = run.zero.level,
                                          .bucket = 512,
                                          .shared_over = run.zero.shared_over,
                                          .owner = shape::zero_owner::whole});
    auto const bytes = [](at::Tensor const& x) { return static_cast<std::int64_t>(x.storage().nbytes()); };
    owned_bytes& held = found[static_cast<std::size_t>(me.rank)];
    held.parameters = bytes(run.zero.level == 3 ? net.store.kept_values() : net.store.values());
    held.gradients = bytes(net.store.gradients());
    if (net.store.has_masters()) held.masters = bytes(net.store.kept_masters());
    for (update::segment const& s : net.segments)
      for (at::Tensor const& slot : s.slots) held.slots += static_cast<std::int64_t>(slot.nbytes());
  });
  owned_bytes most;
  for (owned_bytes const& one : found)
    if (one.all() > most.all()) most = one;
  return most;
}

TEST_CASE("owners of whole matrices hold as many bytes as planned, with padding") {
  for (dtype const type : {dtype::f32, dtype::bf16})
    // With ranks along ds, groups of replicas own the matrices.
    for (mesh const& on :
         {mesh{.dp = 2}, {.dp = 3}, {.dp = 7}, {.dp = 2, .tp = 2}, {.dp = 2, .ds = 2}, {.dp = 2, .ds = 3}}) {
      auto const check = [&](auto const& optimizer) {
        cost::setup run{.mesh = on, .load = {2, 8}, .compute = type};
        if (on.ds > 1) run.zero.shared_over = shape::axis::ds | shape::axis::ep;
        std::int64_t const all = cost::cost_of(tied, optimizer, run).memory.optimizer;
        run.zero.owner = shape::zero_owner::whole;
        run.zero.bucket = 512;
        for (run.zero.level = 1; run.zero.level <= 3; ++run.zero.level) {
          INFO(name_of(on) << " " << redco::name_of(type) << " " << optimizer.name << " level " << run.zero.level);
          cost::memory const plan = cost::cost_of(tied, optimizer, run).memory;
          owned_bytes const held = measured_owners(run, optimizer);
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
  run.zero.level = 1;
  run.zero.owner = shape::zero_owner::whole;
  // Four equal blocks have two owners.
  CHECK(cost::cost_of(tied, muon{}, run).memory.optimizer <= all / 2 + 8);
  // The matrices of one block have other owners than those of the next.
  cost::memory const whole = cost::cost_of(tied, muon{}, {.mesh = {.dp = 2}, .load = {2, 8}}).memory;
  run.zero.level = 3;
  cost::memory const shares = cost::cost_of(tied, muon{}, run).memory;
  CHECK(shares.optimizer <= all / 2 + 8);
  CHECK(shares.parameters <= whole.parameters / 2 + 64);
  CHECK(shares.gradients <= whole.gradients / 2 + 64);
}

TEST_CASE("gradients of owned matrices wait for their sum block by block, in as many bytes as planned") {
  for (mesh const& on : {mesh{.dp = 2}, {.dp = 3}, {.dp = 2, .tp = 2}}) {
    INFO(name_of(on));
    cost::setup run{.mesh = on, .load = {2, 8}};
    run.zero.level = 2;
    run.zero.owner = shape::zero_owner::whole;
    run.zero.bucket = 512;
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

}  // namespace zero_bytes_test
