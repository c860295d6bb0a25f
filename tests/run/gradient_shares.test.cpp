#include "mlp.hpp"
#include "stages.hpp"

#include "comm/values.hpp"

#include <redco/run/gradient_shares.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/run/training_step.hpp>
#include <redco/nn/opaque.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/tensor_memory.hpp>
#include <redco/cost/cost_of.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/layer/norms.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Tests of the sums of gradients of which each replica keeps its share only (ZeRO 2).

namespace gradient_shares_test {

using namespace redco;
using comm_test::must;
using run_test::code_of;
using run_test::in;
using stage_test::tied;

comm::rank_options const settings{.first_deadline = std::chrono::seconds(200), .threads = 1};

/// Gives all gradients of a network to `sums` as backward does, last parameter first. The gradient
/// of each parameter is `value`.
void end_all(run::gradient_shares& sums, nn::network_base const& net, double value, std::vector<at::Tensor>& kept) {
  at::NoGradGuard const no_grad;
  for (std::size_t i = 0; i < net.parameters().size(); ++i) {
    kept.push_back(at::full_like(net.parameters()[i], value));
    net.parameters()[i].mutable_grad() = kept.back();
  }
  for (std::size_t i = net.parameters().size(); i-- > 0;) sums.end({static_cast<std::int32_t>(i)});
}

TEST_CASE("buckets that wait for their sum hold as many bytes as planned, and are freed after it") {
  for (dtype const type : {dtype::f64, dtype::f32, dtype::bf16})
    for (mesh const& on : {mesh{.dp = 2}, {.dp = 3}, {.dp = 4}, {.dp = 2, .tp = 2}})
      for (std::int64_t const bucket : {64, 256, 2048, 1 << 20}) {
        INFO(stage_test::name_of(on) << " " << name_of(type) << " in buckets of " << bucket);
        cost::setup run{.mesh = on, .load = {2, 8}, .compute = type};
        run.zero.level = 2;
        run.zero.bucket = bucket;
        std::int64_t const planned = cost::cost_of(tied, adamw{}, run).memory.gradient_buckets;
        std::vector<std::int64_t> found(static_cast<std::size_t>(on.ranks()));
        comm::run_ranks(on, settings, [&](rank_context& me) {
          auto const counter = std::make_shared<redco::tensors::memory_counter>();
          redco::tensors::memory_counter::scope const counting(counter);
          run::trained_network<gpt2> const net(tied, plan_of(tied, me.mesh), adamw{}, type, 3, me.rank, {},
                                               redco::tensors::cpu_device(), {.level = 2, .bucket = bucket});
          run::gradient_shares sums(*net.net, me);
          std::vector<at::Tensor> gradients;
          end_all(sums, *net.net, 1, gradients);
          sums.end_round();
          gradients.clear();
          std::int64_t const before = counter->current();
          counter->reset_peak();
          end_all(sums, *net.net, 2, gradients);
          std::int64_t own = 0;
          for (at::Tensor const& g : gradients) own += static_cast<std::int64_t>(g.nbytes());
          sums.end_round();
          found[static_cast<std::size_t>(me.rank)] = counter->peak() - before - own;
          must(counter->current() == before + own, "a round frees its buckets");
          sums.end_round();  // a round without an example of this replica
          must(at::equal(net.store.gradients(), at::full_like(net.store.gradients(), 3.0 * me.mesh.dp)), "two rounds");
        });
        // A small last bucket may be summed before the other regions have a bucket in memory.
        std::int64_t const unused = bucket == 2048 ? 2047 : 0;
        for (std::int64_t const bytes : found) {
          CHECK(bytes <= planned);
          CHECK(bytes >= planned - unused);
        }
      }
}

TEST_CASE("the sum of a bucket begins when its last gradient is complete, and not before") {
  comm::run_ranks({.dp = 2}, settings, [&](rank_context& me) {
    run::trained_network<gpt2> const net(tied, plan_of(tied, me.mesh), adamw{}, dtype::f64, 3, me.rank, {},
                                         redco::tensors::cpu_device(), {.level = 2, .bucket = 64});
    run::gradient_shares sums(*net.net, me);
    std::vector<at::Tensor> kept;
    auto const calls = [&] { return me.group(shape::batch_axes).counters().total().calls; };
    for (int round = 0; round < 2; ++round) {
      std::int64_t const before = calls();
      end_all(sums, *net.net, 1, kept);
      must(calls() - before == std::ssize(net.store.shares()), "all buckets are summed during backward");
      sums.end_round();
      must(calls() - before == std::ssize(net.store.shares()), "and none after it");
    }
    must(code_of([&] { end_all(sums, *net.net, 1, kept), end_all(sums, *net.net, 1, kept); }) == 70, "a second end");
  });
}

TEST_CASE("sums that overlap with backward leave few buckets in memory, even if another rank is late") {
  std::int64_t buckets = 0, all = 0;
  comm::run_ranks({.dp = 2}, settings, [&](rank_context& me) {
    // The lane that sums the buckets frees them, and reports to the rank's counter.
    auto const& counter = me.memory;
    run::trained_network<gpt2> const net(tied, plan_of(tied, me.mesh), adamw{}, dtype::f64, 3, me.rank, {},
                                         redco::tensors::cpu_device(), {.level = 2, .bucket = 64, .overlaps = true});
    run::gradient_shares sums(*net.net, me);
    std::vector<at::Tensor> gradients;
    // Meanwhile rank 0 fills the second bucket, and waits for the sum of the first one.
    if (me.rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::int64_t const before = counter->current();
    counter->reset_peak();
    end_all(sums, *net.net, 1, gradients);
    std::int64_t own = 0;
    for (at::Tensor const& g : gradients) own += static_cast<std::int64_t>(g.nbytes());
    if (me.rank == 0) buckets = counter->peak() - before - own, all = own;
    sums.end_round();
    sums.wait();
    must(at::equal(net.store.gradients(), at::full_like(net.store.gradients(), 2.0)), "the sums are right");
  });
  CHECK(buckets > 0);
  CHECK(buckets < all / 2);
}

TEST_CASE("the noise of a private step is added once to each element, whichever rank keeps it") {
  for (mesh const& on : {mesh{.dp = 2}, {.dp = 3, .tp = 2}}) {
    auto const placed = shard::placed_parameters(plan_of(tied, on));
    for (int rank = 0; rank < on.ranks(); ++rank) {
      auto const made = [&](int level) {
        nn::parameter_store store(placed, rank, dtype::f64, 1, {}, redco::tensors::cpu_device(), {level, 256});
        store.add_noise(0.5, rank, 7, 3);
        return store;
      };
      nn::parameter_store const whole = made(1), shares = made(2);
      CHECK(whole.gradients().abs().max().item<double>() > 1);
      CHECK(shares.gradients().numel() < whole.gradients().numel() / (on.dp - 1));
      for (auto const& one : shares.kept()) {
        std::int64_t const size = one.end - one.begin;
        CHECK(at::equal(shares.gradients().narrow(0, one.packed, size), whole.gradients().narrow(0, one.begin, size)));
      }
    }
  }
}

struct normed {
  using net =
      sequential<named<"in", linear<5, 12, false>>, named<"norm", batch_norm<12>>, relu, named<"down", linear<12, 3>>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, 5}; }
};

struct owner {
  at::Tensor weight = at::ones({3, 5});

  std::vector<std::pair<std::string, at::Tensor>> named_parameters() const { return {{"weight", weight}}; }
  at::Tensor forward(at::Tensor const& x) const { return at::linear(x, weight); }
};
struct owning {
  using net = sequential<named<"mine", opaque<owner>>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, 5}; }
};

TEST_CASE("steps whose sums the replicas cannot take during backward are refused by name") {
  temporary_folder const folder;
  deployer_options where = in(folder.path, {.dp = 2});
  where.zero = 2;
  auto const check = [&](run_test::outcome const& found, std::string const& reason) {
    INFO(found.reason);
    CHECK(found.code == 64);
    CHECK(run_test::mentions(found, reason));
  };
  auto const fit = [&](auto const& model) {
    run_test::options_of<std::decay_t<decltype(model)>, decltype(run_test::mlp_pipeline())> o;
    o.epochs = 1;
    o.global_batch = 4;
    return run_test::fit(where, model, run_test::mlp_pipeline(), run_test::numbers(8), o);
  };
  CHECK(fit(run_test::mlp{}).code == 0);
  check(fit(normed{}), "--zero 2 and the parameter norm.running_mean: batch norm communicates");
  check(fit(owning{}), "--zero 2 and the parameter mine.weight: a module that owns its tensors");
}

TEST_CASE("a program's own steps may add any number of losses, other ones on other replicas") {
  for (int const replicas : {2, 3})
    for (double const bucket : {4.0, 64.0 / (1 << 20)})
      for (bool const overlap : {false, true}) {
        auto const run = [&](int level) {
          temporary_folder const folder;
          deployer_options where = in(folder.path, {.dp = replicas});
          where.zero = level;
          where.gradient_bucket = bucket;
          where.overlap = overlap;
          where.deadline = 60;
          run_test::mlp_options own;
          own.epochs = 2;
          own.global_batch = 5;
          own.save_last = false;
          own.save_argmin = {};
          // A loss for each example, none for those that 3 divides: replicas add 0 to 3 losses.
          own.train_step = [](auto& step, auto const& net, run_test::mlp_batch const& b) {
            for (std::int64_t i = 0; i < b.x.size(0); ++i) {
              if (b.ids[i].item<std::int64_t>() % 3 == 0) continue;
              run_test::mlp_batch const one{b.ids.narrow(0, i, 1), b.x.narrow(0, i, 1), b.labels.narrow(0, i, 1), {}};
              step.add(redco::mean{run_test::losses_of(net(one.x), one).sum(), 1.0});
            }
          };
          return run_test::fit_mlp(where, own);
        };
        run_test::outcome const whole = run(0);
        for (int const level : {2, 3}) {
          run_test::outcome const shares = run(level);
          INFO(replicas << " replicas, buckets of " << bucket << ", level " << level << whole.reason << shares.reason);
          REQUIRE(whole.losses.size() == 6);
          CHECK(run_test::difference(whole.losses, shares.losses) < 1e-10);
          CHECK(stage_test::distance(whole.state, shares.state) < 1e-10);
        }
      }
  // Losses by hand, of which replica 1 adds none.
  std::vector<at::Tensor> found(3);
  for (int const level : {0, 2})
    comm::run_ranks({.dp = 2}, settings, [&](rank_context& me) {
      run::trained_network<gpt2> net(tied, plan_of(tied, me.mesh), sgd{.lr = 1}, dtype::f64, 3, me.rank, {},
                                     redco::tensors::cpu_device(), {.level = level});
      pass const in = nn::training_pass(me);
      run::training_step step(net, me);
      for (std::int64_t i = 0; i < 2 && me.rank == 0; ++i) {
        token_batch const b = stage_test::texts_of(std::vector<std::int64_t>{i});
        step.add(cross_entropy(net.in(in)(b.input_ids), b.labels));
      }
      step.finish(0, 1, false);
      if (me.rank == 1) found[static_cast<std::size_t>(level)] = net.store.values().clone().narrow(0, 0, 500);
    });
  CHECK((found[0] - found[2]).abs().max().item<double>() < 1e-12);
}

}  // namespace gradient_shares_test
