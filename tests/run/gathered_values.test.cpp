#include "stages.hpp"

#include "comm/values.hpp"

#include <redco/run/gathered_values.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/nn/value_source.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/t5.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
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
    must(bytes[1] > 0 && bytes[4] == bytes[1], "each block has a buffer");
    auto const held = [&] { return counter->current() - before; };
    auto const calls = [&] { return me.group(shape::batch_axes).counters().total().calls; };
    for (std::int64_t const kept : {0, 2}) {
      run::gathered_values values(net.store, me, &sums, kept);
      must(net.store.source() == &values, "the store knows it");
      for (int round = 0; round < 2; ++round) {
        values.begin_forward({0, 4});
        must(held() == bytes[0] + (round == 0 ? 0 : std::max<std::int64_t>(kept, 1)) * bytes[1], "outside");
        for (std::int64_t block = 0; block < 4; ++block) {
          values.enter(block);
          std::int64_t const before_it = round == 0 ? std::min(block, kept) : kept;
          must(held() == bytes[0] + (before_it + (block < kept && round > 0 ? 0 : 1)) * bytes[1], "forward of a block");
        }
        values.begin_backward({0, 4});
        for (std::int64_t block = 4; block-- > 0;) {
          std::int64_t const before_block = calls();
          values.enter_backward(block);
          must(held() == bytes[0] + (kept + (block < kept ? 0 : 1)) * bytes[1], "backward of a block");
          must(calls() - before_block == (block == 3 ? 0 : block < kept ? 1 : 2), "a sum and a gather");
        }
        values.end();
        sums.end_round();
      }
      values.drop_all();
      must(held() == 0, "all values are freed");
    }
    must(net.store.source() == nullptr, "the store forgets it");
  });
}

TEST_CASE("the sums of a block's gradients begin with its backward and end before that of the block before") {
  comm::run_ranks({.dp = 2}, settings, [&](rank_context& me) {
    run::trained_network<gpt2> const net(tied, plan_of(tied, me.mesh), adamw{}, dtype::f64, 3, me.rank, {},
                                         redco::tensors::cpu_device(), {.level = 3, .bucket = 256});
    run::gradient_shares sums(*net.net, me);
    auto const calls = [&] { return me.group(shape::batch_axes).counters().total().calls; };
    std::vector<std::int64_t> ranges(5, 0);  // outside blocks, then of each block
    for (auto const& range : net.store.shares())
      for (auto const& part : net.store.value_parts())
        if (part.begin <= range.begin && range.end <= part.end) ++ranges[static_cast<std::size_t>(part.block + 1)];
    std::int64_t const first = calls();
    auto const end = [&](std::size_t from, std::size_t to) {
      for (std::size_t i = to; i-- > from;) {
        at::Tensor const& leaf = net.net->parameters()[i];
        leaf.mutable_grad() = at::ones_like(leaf);
        sums.end({static_cast<std::int32_t>(i)});
      }
    };
    // Two embeddings, four blocks, and the last norm's weight and bias
    std::size_t const each = (net.net->parameters().size() - 4) / 4;
    end(2 + 4 * each, 4 + 4 * each);
    std::int64_t summed = calls() - first;  // of buckets with parameters of the norm only
    must(summed < ranges[0], "the embeddings wait");
    for (std::int64_t block = 4; block-- > 0;) {
      sums.begin_backward(block);
      must(calls() - first == summed, "sums of later blocks only");
      std::size_t const from = 2 + static_cast<std::size_t>(block) * each;
      end(from + 1, from + each);
      std::int64_t const before_last = calls() - first;
      must(before_last > summed && before_last < summed + ranges[static_cast<std::size_t>(block) + 1], "in backward");
      if (block > 0) sums.begin_backward(block - 1);
      else end(from, from + 1);
      summed += ranges[static_cast<std::size_t>(block) + 1];
      must(calls() - first == summed, "all sums of the block");
      if (block > 0) must(code_of([&] { end(from, from + 1); }) == 70, "a gradient after its sum");
    }
    sums.end_round();
    must(calls() - first == std::ssize(net.store.shares()), "all sums");
    // Gradients of an earlier block that are complete too soon wait for the backward of the block.
    std::int64_t const second = calls();
    end(2 + 4 * each, 4 + 4 * each);
    sums.begin_backward(3);
    end(2 + 2 * each, 2 + 4 * each);
    must(calls() - second <= ranges[4] + ranges[0], "sums of the last block only");
    sums.end_round();
  });
}

TEST_CASE("a block's backward has its values, whichever block was gathered last") {
  comm::run_ranks({.dp = 2}, settings, [&](rank_context& me) {
    run::trained_network<gpt2> const net(tied, plan_of(tied, me.mesh), adamw{}, dtype::f64, 3, me.rank, {},
                                         redco::tensors::cpu_device(), {.level = 3});
    struct recorder final : nn::value_source {
      explicit recorder(nn::parameter_store const& s) : store(s) { store.set_source(this); }
      ~recorder() override { store.set_source(nullptr); }
      void begin_call() override { order.push_back(-1); }
      void enter(std::int64_t block) override { order.push_back(block); }
      void enter_backward(std::int64_t block) override { order.push_back(10 + block); }
      nn::parameter_store const& store;
      std::vector<std::int64_t> order;
    } source(net.store);
    run::gather_all(net.store, me);
    pass const in = nn::training_pass(me);
    std::vector<std::int64_t> const examples{1, 2};
    token_batch const b = stage_test::texts_of(examples);
    cross_entropy(net.in(in)(b.input_ids), b.labels).sum.backward();
    must(source.order == std::vector<std::int64_t>{-1, 0, 1, 2, 3, 13, 12, 11, 10}, "the order of the model");
    run::drop_all(net.store);
  });
}

TEST_CASE("frozen parameters have shares of values and masters") {
  comm::run_ranks({.dp = 2}, settings, [&](rank_context& me) {
    run::trained_network<gpt2> const net(tied, plan_of(tied, me.mesh), adamw{}, dtype::bf16, 3, me.rank,
                                         {"wte.*", "h.0.*", "h.1.*"}, redco::tensors::cpu_device(), {.level = 3});
    std::int64_t elements = 0;
    for (auto const& p : net.store.parameters()) elements += p.value.numel();
    std::int64_t const kept = net.store.kept_values().numel();
    must(kept >= elements / 2 && kept < elements / 2 + 20, "half of all parameters");
    must(net.store.kept_masters().numel() == kept && net.store.gradients().numel() < kept, "and of all masters");
  });
}

TEST_CASE("a stage without trained parameters gathers for the micro-batches of other replicas") {
  temporary_folder const folder;
  auto const run = [&](int level) {
    deployer_options where = in(folder.path, {.pp = 2, .dp = 2});
    where.zero = level;
    where.deadline = 60;
    return trained(tied, stage_test::language(), where, [](auto& o) {
      o.max_steps = 3;
      o.micro_batch = 1;
      o.frozen = {"wte.*", "h.2.*", "h.3.*", "ln_f.*"};
    });
  };
  run_test::outcome const whole = run(0), shares = run(3);
  INFO(whole.reason << shares.reason);
  REQUIRE(whole.losses.size() == 3);
  CHECK(run_test::difference(whole.losses, shares.losses) < 1e-10);
  CHECK(stage_test::distance(whole.state, shares.state) < 1e-10);
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
  auto const reads = collate([](std::span<std::int64_t const> examples) { return stage_test::texts_of(examples); }) |
                     loss([](auto const& net, token_batch const& b) {
                       mean const first = cross_entropy(net(b.input_ids), b.labels);
                       return mean{first.sum + net.parameters().front().sum(), first.count};
                     });
  run_test::outcome const read = trained(tied, reads, where, [](auto&) {});
  CHECK(read.code == 64);
  CHECK(run_test::mentions(read, "--zero 3 and net.parameters()"));
}

}  // namespace gathered_values_test
