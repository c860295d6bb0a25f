#include "mlp.hpp"

#include <redco/run/step.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/run/training_step.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/layer/norms.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/schedule/check_step.hpp>

#include "comm/values.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace {

using namespace redco;
using comm_test::must;

struct normed {
  using net =
      sequential<named<"in", linear<5, 12, false>>, named<"norm", batch_norm<12>>, relu, named<"down", linear<12, 3>>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, 5}; }
};

/// A watch that records the operations of a step.
struct observer final : run::step_watch {
  std::string operations;

  void computed(terms const&) override {}
  void reduced(run::network_state const&, double) override {}
  void updated(run::network_state const&) override {}
  void executed(schedule::step_op const& one) override {
    operations += std::string(name_of(one.operation));
    if (one.micro >= 0) operations += " " + std::to_string(one.micro);
    operations += ", ";
  }
};

/// The work of a step: losses of micro-batches of two examples each, which differ between ranks.
template <class M>
struct work final : run::step_work {
  work(redco::run::trained_network<M> const& net, rank_context& me, bool several)
      : net_(net), me_(me), several_(several) {}

  terms loss(std::int32_t, comm::replica_round const& round, redco::nn::stage_link*) override {
    in_ = redco::nn::training_pass(me_).with_round(round);
    std::int64_t const first = 10 * me_.coordinate(redco::shape::batch_axes) + 2 * next_++;
    run_test::mlp_batch const b = run_test::mlp_batch_of(std::vector<std::int64_t>{first, first + 1});
    at::Tensor const y = net_.in(in_)(b.x);
    mean const all{run_test::losses_of(y, b).sum(), 2};
    if (!several_) return {{{"loss", all, 1}}};
    return {{{"class", all, 1}, {"size", {y.square().sum(), static_cast<double>(y.numel())}, 0.5}}};
  }
  void compute(run::step_executor& step, comm::replica_round const& round) override {
    redco::run::training_step own(step);
    own.add(loss(0, round, nullptr));
  }

 private:
  redco::run::trained_network<M> const& net_;
  rank_context& me_;
  bool several_;
  std::int64_t next_ = 0;
  pass in_;
};

/// The operations of two replicas in a step, and the number of their messages.
struct recorded_step {
  std::string first, second;
  /// Calls of the first, over the replicas and over all ranks
  std::int64_t gradient_sums = 0, all_sums = 0;
};

template <class M = run_test::mlp>
recorded_step step_of_two(std::int64_t first, std::int64_t second, schedule::step_facts const& facts,
                          std::int64_t bucket = 0) {
  recorded_step recorded;
  std::mutex mutex;
  redco::comm::run_ranks(
      {.dp = 2, .tp = 2}, {.first_deadline = std::chrono::seconds(200), .threads = 1}, [&](rank_context& me) {
        redco::run::trained_network<M> net(M{}, plan_of(M{}, me.mesh), sgd{.lr = 0.1}, dtype::f64, 3, me.rank, {});
        net.store.publish();
        schedule::step_facts own = facts;
        own.micro_batches = me.coordinate(redco::shape::batch_axes) == 0 ? first : second;
        own.rounds = std::max(first, second);
        own.full_rounds = std::min(first, second);
        observer seen;
        run::step_executor one(net, me, own, bucket, &seen);
        work<M> batches(net, me, own.several_terms);
        me.each_group([](std::string const&, redco::comm::group& some) { some.reset_counters(); });
        one.run(batches, {0, 1});
        std::scoped_lock const lock(mutex);
        if (me.coordinate(redco::shape::axis::tp) != 0) return;
        (me.rank == 0 ? recorded.first : recorded.second) = seen.operations;
        if (me.rank != 0) return;
        recorded.gradient_sums = me.group(redco::shape::batch_axes).counters().total().calls;
        recorded.all_sums = me.world.counters().total().calls;
      });
  return recorded;
}

TEST_CASE("a step executes the operations of its schedule on each replica") {
  std::string const end = "reduce, total, update, ";
  auto const plain = step_of_two(2, 1, {});
  CHECK(plain.first == "forward 0, backward 0, forward 1, backward 1, " + end);
  CHECK(plain.second == "forward 0, backward 0, " + end);
  CHECK(plain.gradient_sums == 1);
  CHECK(plain.all_sums == 1);

  auto const idle = step_of_two(1, 0, {});
  CHECK(idle.first == "forward 0, backward 0, " + end);
  CHECK(idle.second == end);

  auto const in_one = step_of_two(2, 1, {.in_one = true});
  CHECK(in_one.first == "compute 0, compute 1, " + end);
  CHECK(in_one.second == "compute 0, " + end);

  auto const terms = step_of_two(1, 0, {.several_terms = true});
  CHECK(terms.first == "forward 0, total_counts 0, backward 0, " + end);
  CHECK(terms.second == "total_counts 0, " + end);
  CHECK(terms.gradient_sums == 2);  // includes the sum of the counts

  auto const norm = step_of_two<normed>(2, 1, {});
  CHECK(norm.first == "forward 0, backward 0, forward 1, backward 1, end_round 1, share_statistics, " + end);
  CHECK(norm.second == "forward 0, backward 0, sit_out 1, share_statistics, " + end);

  // Buckets of 40 bytes hold 5 numbers. Each shard has 31 weights and biases of up and 19 of down,
  // whose biases are whole.
  CHECK(step_of_two(2, 1, {}, 40).first == plain.first);
  CHECK(step_of_two(2, 1, {}, 40).gradient_sums > 5);
}

TEST_CASE("a step with impossible messages is refused before anything runs") {
  std::string why;
  redco::comm::run_ranks({}, {.first_deadline = std::chrono::seconds(200), .threads = 1}, [&](rank_context& me) {
    redco::run::trained_network<run_test::mlp> net(run_test::mlp{}, plan_of(run_test::mlp{}, me.mesh), sgd{},
                                                   dtype::f64, 3, me.rank, {});
    try {
      run::step_executor(net, me, {.micro_batches = 2, .rounds = 2, .full_rounds = 2, .several_terms = true});
    } catch (error const& e) {
      why = e.what();
    }
  });
  CHECK(why.find("take one micro-batch per step") != std::string::npos);
}

}  // namespace
