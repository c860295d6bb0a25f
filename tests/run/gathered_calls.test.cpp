#include "shares.hpp"

#include "comm/values.hpp"

#include <redco/run/predictor.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/run/training_step.hpp>
#include <redco/run/worker.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

// Tests of parameters of which each replica keeps its share only (ZeRO 3), in evaluations,
// predictions, workers and steps of the program's own.

namespace gathered_calls_test {

using namespace redco;
using comm_test::must;
using run_test::code_of;
using run_test::in;
using run_test::numbers;
using shares_test::outcome;
using stage_test::tied;

/// A language model whose predictions call the network as often as the text of an example says.
/// Counts the blocks whose values are in memory after a call without gradients.
auto counting_calls(std::atomic<std::int64_t>& most_blocks) {
  auto const count = [&most_blocks](auto const& net) {
    if (at::GradMode::is_enabled()) return;
    std::int64_t blocks = 0;
    for (auto const& part : net.base().store().value_parts())
      blocks += part.block >= 0 && nn::parameter_store::is_whole(part) ? 1 : 0;
    std::int64_t most = most_blocks;
    while (most < blocks && !most_blocks.compare_exchange_weak(most, blocks)) continue;
  };
  return collate([](std::span<std::int64_t const> examples) { return stage_test::texts_of(examples); }) |
         loss([count](auto const& net, token_batch const& b) {
           mean const found = cross_entropy(net(b.input_ids), b.labels);
           count(net);
           return found;
         }) |
         predict([count](auto const& net, token_batch const& b) {
           std::vector<double> sums;
           for (std::int64_t i = 0; i < b.input_ids.size(0); ++i) {
             double sum = 0;
             for (std::int64_t k = b.input_ids[i][1].template item<std::int64_t>() % 4; k-- > 0;) {
               sum += cross_entropy(net(b.input_ids.narrow(0, i, 1)), b.labels.narrow(0, i, 1))
                          .sum.template item<double>() *
                      static_cast<double>(k + 1);
               count(net);
             }
             sums.push_back(sum);
           }
           return sums;
         });
}

TEST_CASE("evaluations and predictions gather block by block, for any numbers of calls and examples") {
  std::atomic<std::int64_t> most_blocks = 0;
  auto const job = counting_calls(most_blocks);
  struct result {
    double loss = 0;
    std::vector<double> predicted, trained;
  };
  auto const run = [&](mesh const& on, int level, std::int64_t keep, bool overlap) {
    run_test::silence const quiet;
    temporary_folder const folder;
    deployer_options where = in(folder.path, on);
    where.zero = level;
    where.zero_keep = keep;
    if (overlap) where.overlap = true;
    where.deadline = 60;
    deployer deployer(where);
    redco::trainer trainer(deployer, tied, job, adamw{.lr = 2e-3});
    run_test::options_of<gpt2, decltype(job)> o;
    o.max_steps = 2;
    o.global_batch = 5;
    o.micro_batch = 1;
    o.eval = numbers(7);
    o.eval_every_steps = 1;
    o.save_last = false;
    o.save_argmin = {};
    result found;
    o.on_step = [&](fit_event const& e) { found.trained.push_back(e.loss); };
    most_blocks = 0;
    found.loss = trainer.fit(numbers(13), o).evaluation.at("loss");
    for (std::int64_t const examples : {7, 1})
      for (double const one : redco::predictor(trainer).predict(numbers(examples), 3)) found.predicted.push_back(one);
    return found;
  };
  for (mesh const& on : {mesh{.dp = 2}, {.dp = 3}, {.dp = 2, .tp = 2}, {.pp = 2, .dp = 2}}) {
    result const whole = run(on, 0, 0, false);
    for (std::int64_t const keep : {0, 2, 4}) {
      if (keep > 0 && on.dp == 3) continue;
      bool const overlap = on.pp == 1 && keep < 4;
      INFO(stage_test::name_of(on) << ", " << keep << " blocks kept, overlap " << overlap);
      result const shares = run(on, 3, keep, overlap);
      CHECK(std::abs(whole.loss - shares.loss) < 1e-10);
      CHECK(run_test::difference(whole.trained, shares.trained) < 1e-10);
      REQUIRE(whole.predicted.size() == shares.predicted.size());
      for (std::size_t i = 0; i < whole.predicted.size(); ++i)
        CHECK(std::abs(whole.predicted[i] - shares.predicted[i]) < 1e-10);
      std::int64_t const of_rank = on.pp == 1 ? 4 : 2;
      CHECK(most_blocks <= std::min(of_rank, keep + 1));
      if (keep == 4) CHECK(most_blocks == of_rank);
    }
  }
}

TEST_CASE("gradients in an evaluation of gathered blocks are refused by name") {
  auto const job = collate([](std::span<std::int64_t const> examples) { return stage_test::texts_of(examples); }) |
                   loss([](auto const& net, token_batch const& b) {
                     at::AutoGradMode const always(true);
                     mean const found = cross_entropy(net(b.input_ids), b.labels);
                     if (!net.pass().training) found.sum.backward();
                     return found;
                   });
  deployer_options const where = shares_test::with_zero(in({}, {.dp = 2}), 3);
  outcome const found = shares_test::trained(tied, job, where, adamw{}, [](auto& o) {
    o.max_steps = 1;
    o.eval = numbers(2);
    o.sanity_check = false;
  });
  INFO(found.reason);
  CHECK(found.code == 64);
  CHECK(run_test::mentions(found, "--zero 3 and gradients in an evaluation"));
}

/// Three steps of a worker with one network, or with two whose losses call both. Returns the sum of
/// the squared values, and the mean losses.
std::vector<double> worked(int level, bool two, std::int64_t examples) {
  run_test::silence const quiet;
  temporary_folder const folder;
  deployer_options where = in(folder.path, {.dp = 2});
  where.zero = level;
  where.deadline = 60;
  deployer deployer(where);
  std::vector<double> found;
  deployer.run([&](rank_context& rank) {
    worker loop(deployer, rank, {.steps = 3});
    auto& actor = loop.add("actor", tied, adamw{.lr = 1e-2});
    auto* const critic = two ? &loop.add("critic", tied, adamw{.lr = 1e-2}) : nullptr;
    auto const loss_of = [&](auto& net, pass const& in) {
      std::vector<std::int64_t> mine;
      for (std::int64_t i = 0; i < in.examples; ++i) mine.push_back(in.first_example + i);
      token_batch const b = stage_test::texts_of(mine);
      mean one = cross_entropy(net.in(in)(b.input_ids), b.labels);
      if (critic != nullptr && &net != critic)
        one.sum = one.sum + 0.1 * cross_entropy(critic->in(in).fixed()(b.input_ids), b.labels).sum;
      return one;
    };
    for (loop.resume(); !loop.finished(); loop.end_step()) {
      auto const batches = loop.micro_batches(examples, 1);
      loop.update(actor, batches, [&](pass const& in) { return loss_of(actor, in); });
      if (critic != nullptr) loop.update(*critic, batches, [&](pass const& in) { return loss_of(*critic, in); });
      double const measured = loop.mean_loss(batches, [&](pass const& in) { return loss_of(actor, in); }).at("loss");
      if (rank.rank == 0) found.push_back(measured);
    }
  });
  return found;
}

TEST_CASE("a worker's networks gather their blocks in updates and evaluations, and refuse other calls") {
  for (bool const two : {false, true})
    for (std::int64_t const examples : {4, 3, 1}) {
      INFO(examples << " examples, " << (two ? "two networks" : "one network"));
      std::vector<double> const whole = worked(0, two, examples);
      REQUIRE(whole.size() == 3);
      CHECK(run_test::difference(whole, worked(3, two, examples)) < 1e-10);
    }
  auto const code = [](auto const& uses) {
    run_test::silence const quiet;
    temporary_folder const folder;
    deployer_options where = in(folder.path, {.dp = 2});
    where.zero = 3;
    deployer deployer(where);
    return code_of([&] {
      deployer.run([&](rank_context& rank) {
        worker loop(deployer, rank, {.steps = 1});
        uses(loop, loop.add("net", tied, adamw{}));
      });
    });
  };
  CHECK(code([](worker& loop, auto& net) {
          pass const in = nn::evaluation_pass(loop.rank());
          net.in(in)(stage_test::ids_of(std::vector<std::int64_t>{1}));
        }) == 64);
  CHECK(code([](worker& loop, auto& net) { loop.add_copy("target", net); }) == 64);
}

/// A GPT-2 without dropout, whose masks depend on the row of an example in its call.
gpt2 const plain{{.vocab = stage_test::vocabulary, .context = 16, .width = 12, .heads = 2, .layers = 4}};

/// A step that treats each text alone. It calls the network zero to three times without gradients,
/// and then adds a loss of one more call, except after three. So replicas make different calls, and
/// add different numbers of losses.
void step_by_text(run::training_step& step, auto const& net, token_batch const& b) {
  for (std::int64_t i = 0; i < b.input_ids.size(0); ++i) {
    at::Tensor const ids = b.input_ids.narrow(0, i, 1);
    std::int64_t const calls = ids[0][1].template item<std::int64_t>() % 4;
    for (std::int64_t k = 0; k < calls; ++k) {
      at::NoGradGuard const no_grad;
      net(ids);
    }
    if (calls < 3) step.add(cross_entropy(net(ids), b.labels.narrow(0, i, 1)));
  }
}

template <class Model, class Change>
outcome stepped(Model const& model, mesh const& on, int level, Change const& change) {
  deployer_options where = shares_test::with_zero(in({}, on), level);
  where.gradient_bucket = 0.25 / 1024;
  where.deadline = 60;
  std::int64_t micro_batch = 0;
  change(where, micro_batch);
  return shares_test::trained(model, stage_test::language(), where, adamw{.lr = 1e-2, .clip_norm = 0.5}, [&](auto& o) {
    o.max_steps = 4;
    o.micro_batch = micro_batch;
    o.train_step = [](auto& step, auto const& net, token_batch const& b) { step_by_text(step, net, b); };
  });
}

TEST_CASE("a program's own steps train as on one rank, with any calls and losses on each replica") {
  auto const whole_batch = [](deployer_options&, std::int64_t&) {};
  outcome const one = stepped(plain, {.dp = 1}, 0, whole_batch);
  for (mesh const& on : {mesh{.dp = 2}, {.dp = 3}, {.dp = 4}, {.dp = 2, .tp = 2}})
    for (int const level : {2, 3}) {
      INFO(stage_test::name_of(on) << ", level " << level);
      auto const change = [&](deployer_options& where, std::int64_t& micro_batch) {
        micro_batch = on.dp == 3 ? 1 : 0;
        where.overlap = on.dp == 3;
        if (level == 3 && on.dp == 2) where.zero_keep = 2;
        if (on.dp == 4) where.zero_within = "2";
        if (on.tp == 2) where.recompute = recomputed_blocks::first_n(3);
      };
      check_equal(one, stepped(plain, on, level, change), 4);
    }
  // Dropout, with all calls of a replica.
  check_equal(stepped(tied, {.dp = 3}, 0, whole_batch), stepped(tied, {.dp = 3}, 3, whole_batch), 4);
}

TEST_CASE("a program's own steps of several terms wait for the counts of all replicas") {
  auto const terms_of = [](auto const& net, token_batch const& b) {
    auto const y = net(b.input_ids);
    mean const text = cross_entropy(y, b.labels), first = cross_entropy(y, b.labels.masked_fill(b.labels.gt(9), -100));
    return terms{{{"text", text, 1}, {"first", first, 0.5}}};
  };
  auto const job =
      collate([](std::span<std::int64_t const> examples) { return stage_test::texts_of(examples); }) | loss(terms_of);
  // The third step of an epoch has three examples, so one of four replicas has none.
  auto const run = [&](mesh const& on, int level, int silent = -1) {
    deployer_options where = shares_test::with_zero(in({}, on), level);
    where.deadline = 60;
    return shares_test::trained(plain, job, where, adamw{.lr = 1e-2}, [&](auto& o) {
      o.train_step = [&, silent](auto& step, auto const& net, token_batch const& b) {
        if (net.pass().rank->coordinate(shape::batch_axes) != silent) step.add(terms_of(net, b));
      };
    });
  };
  outcome const one = run({.dp = 1}, 0);
  for (int const replicas : {2, 4})
    for (int const level : {2, 3}) {
      INFO(replicas << " replicas, level " << level);
      check_equal(one, run({.dp = replicas}, level));
    }
  outcome const all = run({.dp = 3}, 0, 1);  // replica 1 adds no loss
  for (int const level : shares_test::levels) check_equal(all, run({.dp = 3}, level, 1));
}

TEST_CASE("a step by hand gathers one block at a time, also on a replica that adds no loss") {
  std::vector<run_test::tensors> found(4);
  std::mutex mutex;
  auto const two_losses = [&](rank_context& me, int level) {
    run::trained_network<gpt2> net(tied, plan_of(tied, me.mesh), sgd{.lr = 1}, dtype::f64, 3, me.rank, {},
                                   redco::tensors::cpu_device(), {.level = level});
    pass const in = nn::training_pass(me);
    auto const loss_now = [&] {
      token_batch const b = stage_test::texts_of(std::vector<std::int64_t>{2});
      return cross_entropy(net.in(in)(b.input_ids), b.labels);
    };
    run::training_step step(net, me);
    for (int i = 0; i < 2 && me.rank == 0; ++i) {
      step.add(loss_now());
      auto const is_block = [](auto const& part) { return part.block >= 0 && nn::parameter_store::is_whole(part); };
      auto const& parts = net.store.value_parts();
      must(level == 0 || std::count_if(parts.begin(), parts.end(), is_block) == 1, "one block is in memory");
    }
    step.finish(0, 1, false);
    must(level == 0 || code_of(loss_now) == 64, "a call after the step is refused");
    std::scoped_lock const lock(mutex);
    run_test::add_state(found[static_cast<std::size_t>(level)], net.parts());
  };
  for (int const level : {0, 3})
    CHECK_NOTHROW(comm::run_ranks({.dp = 2}, {.first_deadline = std::chrono::seconds(30), .threads = 1},
                                  [&](rank_context& me) { two_losses(me, level); }));
  CHECK(stage_test::distance(found[0], found[3]) < 1e-12);
}

TEST_CASE("replicas of a network without trained parameters make any calls in a step of their own") {
  auto const step_of = [](int level, bool adds_loss) {
    return [=](rank_context& me) {
      run::trained_network<gpt2> net(tied, plan_of(tied, me.mesh), sgd{}, dtype::f64, 3, me.rank, {"*"},
                                     redco::tensors::cpu_device(), {.level = level});
      token_batch const b = stage_test::texts_of(std::vector<std::int64_t>{2});
      pass const in = nn::training_pass(me);
      run::training_step step(net, me);
      for (int i = 0; i < 3 * me.rank; ++i) {
        at::NoGradGuard const no_grad;
        net.in(in)(b.input_ids);
      }
      if (adds_loss && me.rank == 1) step.add(cross_entropy(net.in(in)(b.input_ids), b.labels));
      must(step.finish(0, 1, false).weight == 0, "no loss counts");
    };
  };
  comm::rank_options const soon{.first_deadline = std::chrono::seconds(30), .threads = 1};
  for (int const level : {2, 3}) {
    INFO("level " << level);
    CHECK_NOTHROW(comm::run_ranks({.dp = 2}, soon, step_of(level, false)));
    try {
      comm::run_ranks({.dp = 2}, soon, step_of(level, true));
      FAIL("accepted");
    } catch (error const& e) {
      CHECK(static_cast<int>(e.code()) == 70);
      CHECK(std::string(e.what()).find("the loss has no gradient: no trained parameter") != std::string::npos);
    }
  }
}

TEST_CASE("verification passes with steps of the program's own") {
  run_test::silence const quiet;
  temporary_folder const folder;
  deployer deployer(shares_test::with_zero(in(folder.path, {.dp = 3}), 3));
  redco::trainer trainer(deployer, plain, stage_test::language(), adamw{.lr = 1e-2, .clip_norm = 0.5});
  run_test::options_of<gpt2, decltype(stage_test::language())> o;
  o.global_batch = 5;
  o.train_step = [](auto& step, auto const& net, token_batch const& b) { step_by_text(step, net, b); };
  auto const result = trainer.verify(numbers(13), o);
  INFO(result.text(100) << result.verdict());
  CHECK(result.ok());
}

TEST_CASE("steps of the program's own that no gather fits are refused by name") {
  auto const refusal = [](auto const& step_of) {
    deployer_options where = shares_test::with_zero(in({}, {.dp = 2}), 3);
    where.deadline = 60;
    return shares_test::trained(tied, stage_test::language(), where, sgd{}, [&](auto& o) { o.train_step = step_of; });
  };
  auto const loss_of = [](auto const& net, token_batch const& b) { return cross_entropy(net(b.input_ids), b.labels); };
  outcome const twice = refusal([&](auto& step, auto const& net, token_batch const& b) {
    mean const first = loss_of(net, b);
    step.add(mean{first.sum + loss_of(net, b).sum, first.count});
  });
  CHECK(twice.code == 64);
  CHECK(run_test::mentions(twice, "--zero 3 and a step that calls its network twice before it adds a loss"));
  outcome const alone = refusal([&](auto&, auto const& net, token_batch const& b) { loss_of(net, b).sum.backward(); });
  CHECK(alone.code == 64);
  CHECK(run_test::mentions(alone, "--zero 3 and gradients that a step does not compute by add(loss)"));
}

}  // namespace gathered_calls_test
