#include "stages.hpp"

#include "comm/values.hpp"

#include <redco/run/gathered_values.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/run/worker.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/t5.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

// Tests of parameters of which each replica keeps its share only (ZeRO 3).

namespace gathered_values_test {

using namespace redco;
using comm_test::must;
using run_test::code_of;
using run_test::in;
using run_test::numbers;
using stage_test::tied;

comm::rank_options const settings{.first_deadline = std::chrono::seconds(200), .threads = 1};

/// Twenty steps of five examples, one per micro-batch, as `change(options)` sets.
template <class Model, class Pipeline, class Change>
run_test::outcome trained(Model const& model, Pipeline const& job, deployer_options const& where,
                          Change const& change) {
  run_test::options_of<Model, Pipeline> o;
  o.epochs = 7;
  o.max_steps = 20;
  o.global_batch = 5;
  o.micro_batch = 1;
  o.save_last = false;
  o.save_argmin = {};
  change(o);
  return run_test::fit(where, model, job, numbers(13), o, {.lr = 2e-3, .clip_norm = 0.5});
}

template <class Model, class Pipeline>
void check_equal(Model const& model, Pipeline const& job, mesh const& on, recomputed_blocks const& recompute = {}) {
  temporary_folder const folder;
  deployer_options where = in(folder.path, on);
  where.gradient_bucket = 1.0 / 1024;
  where.recompute = recompute;
  auto const unchanged = [](auto&) {};
  run_test::outcome const whole = trained(model, job, where, unchanged);
  where.zero = 3;
  run_test::outcome const shares = trained(model, job, where, unchanged);
  INFO(stage_test::name_of(on) << " " << whole.reason << shares.reason);
  REQUIRE(whole.losses.size() == 20);
  CHECK(run_test::difference(whole.losses, shares.losses) < 1e-10);
  CHECK(stage_test::distance(whole.state, shares.state) < 1e-10);
}

TEST_CASE("blocks that are computed again in backward have their values then") {
  for (int const blocks : {1, 3, 4})
    check_equal(tied, stage_test::language(), {.dp = 2}, recomputed_blocks::first_n(blocks));
}

TEST_CASE("an encoder-decoder gathers the blocks of both stacks in their order") {
  t5 const model{{.vocab = 23,
                  .width = 12,
                  .ffn = 20,
                  .heads = 2,
                  .head_dim = 6,
                  .layers = 2,
                  .decoder_layers = 3,
                  .dropout = 0.1}};
  auto const job = collate([](std::span<std::int64_t const> examples) { return stage_test::pairs_of(examples); }) |
                   loss([](auto const& net, stage_test::pair_batch const& b) {
                     return cross_entropy(net(b.decoder, encoder_input{b.source}, encoder_mask{b.mask}), b.labels);
                   });
  check_equal(model, job, {.dp = 3});
  check_equal(model, job, {.dp = 2, .tp = 2});
}

TEST_CASE("a loss that skips the network on one rank ends the run with its cause, and nothing hangs") {
  auto const job = collate([](std::span<std::int64_t const> examples) { return stage_test::texts_of(examples); }) |
                   loss([](auto const& net, token_batch const& b) {
                     if (b.input_ids.size(1) == 9) return mean{at::ones({}), 1.0};
                     return cross_entropy(net(b.input_ids), b.labels);
                   });
  temporary_folder const folder;
  deployer_options where = in(folder.path, {.dp = 3});
  where.zero = 3;
  run_test::outcome const found = trained(tied, job, where, [](auto&) {});
  CHECK(found.code == 70);
  CHECK(run_test::mentions(found, "the loss has no gradient"));
}

TEST_CASE("the values of one block and of the layers outside blocks are in memory at a time") {
  comm::run_ranks({.dp = 2}, settings, [&](rank_context& me) {
    auto const counter = std::make_shared<redco::tensors::memory_counter>();
    redco::tensors::memory_counter::scope const counting(counter);
    run::trained_network<gpt2> const net(tied, plan_of(tied, me.mesh), adamw{}, dtype::f64, 3, me.rank, {},
                                         redco::tensors::cpu_device(), {.level = 3});
    run::gradient_shares sums(*net.net, me);
    std::int64_t const before = counter->current();
    std::vector<std::int64_t> bytes(5, 0);  // outside blocks, then of each block
    for (auto const& part : net.store.value_parts())
      bytes[static_cast<std::size_t>(part.block + 1)] += static_cast<std::int64_t>(part.values.nbytes());
    auto const held = [&] { return counter->current() - before; };
    for (std::int64_t const kept : {0, 2}) {
      run::gathered_values values(net.store, me, sums, 2, kept);
      must(net.store.source() == &values, "the store knows it");
      for (int round = 0; round < 2; ++round) {
        values.begin_call();
        std::int64_t const blocks_kept = round == 0 ? 0 : kept > 0 ? 2 : 1;
        must(held() == bytes[0] + blocks_kept * bytes[1], "outside");
        for (std::int64_t block = 0; block < 4; ++block) {
          values.enter(block);
          std::int64_t const more = kept == 0 ? 1 : round == 0 && block < 2 ? block + 1 : block < 2 ? 2 : 3;
          must(held() == bytes[0] + more * bytes[1], "forward of block " + std::to_string(block));
        }
        for (std::int64_t block = 4; block-- > 0;) {
          values.enter_backward(block);
          std::int64_t const more = kept == 0 ? 1 : block < 2 ? 2 : 3;
          must(held() == bytes[0] + more * bytes[1], "backward of block " + std::to_string(block));
        }
        values.end_round();
      }
      must(held() == 0, "the last round frees all values");
    }
    must(net.store.source() == nullptr, "the store forgets it");
  });
}

TEST_CASE("gathered values are those of a store that keeps all, and autograd does not see them change") {
  comm::run_ranks({.dp = 3}, settings, [&](rank_context& me) {
    for (dtype const type : {dtype::f64, dtype::bf16}) {
      run::trained_network<gpt2> const whole(tied, plan_of(tied, me.mesh), adamw{}, type, 3, me.rank);
      run::trained_network<gpt2> const net(tied, plan_of(tied, me.mesh), adamw{}, type, 3, me.rank, {},
                                           redco::tensors::cpu_device(), {.level = 3});
      std::vector<std::int64_t> versions;
      for (at::Tensor const& leaf : net.net->parameters()) versions.push_back(leaf._version());
      run::gather_all(net.store, me);
      for (std::size_t i = 0; i < versions.size(); ++i) {
        at::Tensor const& leaf = net.net->parameters()[i];
        must(at::equal(leaf, whole.net->parameters()[i]), "equal values");
        must(leaf._version() == versions[i], "no change");
      }
    }
  });
}

TEST_CASE("sums and gathers that overlap with computation give the same bits") {
  temporary_folder const folder;
  for (mesh const& on : {mesh{.dp = 2}, {.dp = 3}, {.dp = 2, .tp = 2}})
    for (int const level : {2, 3})
      for (dtype const type : {dtype::f32, dtype::bf16}) {
        deployer_options where = in(folder.path, on);
        where.zero = level;
        where.dtype = type;
        where.gradient_bucket = 1.0 / 1024;
        auto const six_steps = [](auto& o) { o.max_steps = 6; };
        run_test::outcome const after = trained(tied, stage_test::language(), where, six_steps);
        where.overlap = true;
        run_test::outcome const during = trained(tied, stage_test::language(), where, six_steps);
        INFO(stage_test::name_of(on) << " level " << level << " " << during.reason);
        REQUIRE(after.losses.size() == 6);
        CHECK(after.losses == during.losses);
        CHECK(run_test::bit_equal(after.state, during.state));
      }
}

TEST_CASE("calls of a network that nothing gathers for are refused by name") {
  temporary_folder const folder;
  deployer_options where = in(folder.path, {.dp = 2});
  where.zero = 3;
  auto const twice = collate([](std::span<std::int64_t const> examples) { return stage_test::texts_of(examples); }) |
                     loss([](auto const& net, token_batch const& b) {
                       mean const first = cross_entropy(net(b.input_ids), b.labels);
                       return mean{first.sum + cross_entropy(net(b.input_ids), b.labels).sum, first.count};
                     });
  run_test::outcome const found = trained(tied, twice, where, [](auto&) {});
  CHECK(found.code == 64);
  CHECK(run_test::mentions(found, "--zero 3 and a loss that calls its network twice"));
  comm::run_ranks({.dp = 2}, settings, [&](rank_context& me) {
    run::trained_network<gpt2> net(tied, plan_of(tied, me.mesh), adamw{}, dtype::f64, 3, me.rank, {},
                                   redco::tensors::cpu_device(), {.level = 3});
    pass const pass = nn::evaluation_pass(me);
    std::vector<std::int64_t> const examples{1, 2};
    must(code_of([&] { net.in(pass)(stage_test::ids_of(examples)); }) == 64, "outside of a step");
    must(code_of([&] { net.set_values(net.net->parameters()); }) == 64, "new values");
  });
  run_test::silence const quiet;
  deployer deployer(where);
  CHECK(code_of([&] { deployer.run([&](rank_context& rank) { worker loop(deployer, rank, {.steps = 3}); }); }) == 64);
}

}  // namespace gathered_values_test
