#pragma once

// A model whose blocks sleep, and the times of a training step on its pipeline stages. Steps run by
// the step executor over the world's transport, and are compared with schedule::simulate.

#include <redco/run/step.hpp>
#include <redco/run/trained_network.hpp>
#include <redco/nn/nn.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/recorded_function.hpp>
#include <redco/shard/plan.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/schedule/pipeline_time.hpp>
#include <redco/schedule/step_of.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <thread>
#include <vector>

namespace timed_stages {

using clock = std::chrono::steady_clock;

/// The durations of a block in microseconds. `jitter`: largest random addition to each duration.
struct sleeping_config {
  std::int64_t blocks = 1, forward = 10'000, backward = 20'000, jitter = 0;
};

/// The simulated clock of a rank, in microseconds. While a thread has one, blocks do not sleep.
/// Hidden states and gradients carry the time at which their sender had computed them.
struct simulated_clock {
  double now = 0;

  static simulated_clock*& of_thread() {
    thread_local simulated_clock* own = nullptr;
    return own;
  }

  /// Computes for `duration` microseconds, as soon as `arrived` has arrived. Returns the time in a
  /// tensor of its shape.
  at::Tensor compute(at::Tensor const& arrived, std::int64_t duration) {
    now = std::max(now, arrived.max().item<double>()) + static_cast<double>(duration);
    return at::full_like(arrived, now);
  }
};

/// The identity, as a function whose forward and backward sleep.
struct sleeping_function : redco::tensors::recorded_function<sleeping_function> {
  static void sleep(std::int64_t microseconds, std::int64_t jitter) {
    thread_local std::mt19937 random{std::random_device()()};
    if (jitter > 0) microseconds += std::uniform_int_distribution<std::int64_t>(0, jitter)(random);
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  }
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x, std::int64_t forward,
                            std::int64_t backward, std::int64_t jitter) {
    ctx->saved_data["backward"] = backward;
    ctx->saved_data["jitter"] = jitter;
    if (simulated_clock* const own = simulated_clock::of_thread()) return own->compute(x, forward);
    sleep(forward, jitter);
    return x.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& gradient) {
    if (simulated_clock* const own = simulated_clock::of_thread())
      return {own->compute(gradient[0], ctx->saved_data["backward"].toInt()), {}, {}, {}};
    sleep(ctx->saved_data["backward"].toInt(), ctx->saved_data["jitter"].toInt());
    return {gradient[0], {}, {}, {}};
  }
};

/// A layer that multiplies each of two features by a parameter, and sleeps in forward and backward.
struct sleeping : redco::layers::featurewise_layer {
  template <class X, class Config>
  static constexpr void facts(Config const&, redco::fact::recorder& w) {
    redco::fact::flow const input = w.activation;
    redco::fact::parameter_fact factor;
    factor.shape = {2};
    factor.start = {redco::fact::initial::kind::ones, 0};
    w.parameter("factor", factor);
    w.save("input");
    w.produce(input.shape, input.split_dim, input.units);
    w.backward(input);
  }
};

struct sleeping_model {
  static constexpr auto blocks = &sleeping_config::blocks;
  using net = redco::sequential<redco::named<"h", redco::repeat<blocks, redco::named<"sleeping", sleeping>>>>;
  sleeping_config config;
  constexpr redco::extents input(redco::workload const& load) const { return {load.batch, 2}; }
};

/// The micro-batches of a step of the sleeping model: one example each.
class sleeping_work final : public redco::run::step_work {
 public:
  sleeping_work(redco::run::trained_network<sleeping_model> const& net, redco::rank_context& me) : net_(net), me_(me) {}

  redco::terms loss(std::int32_t, redco::comm::replica_round const& round, redco::nn::stage_link* stage) override {
    passes_.push_back(redco::nn::training_pass(me_).with_round(round));
    passes_.back().stage = stage;
    return {{{"loss", {net_.in(passes_.back())(at::ones({1, 2}, at::kDouble)).sum(), 1}, 1}}};
  }
  void compute(redco::run::step_executor&, redco::comm::replica_round const&) override {}

 private:
  redco::run::trained_network<sleeping_model> const& net_;
  redco::rank_context& me_;
  std::deque<redco::pass> passes_;
};

/// Records when the last computation of a rank ended.
struct end_watch final : redco::run::step_watch {
  clock::time_point end;

  void computed(redco::terms const&) override {}
  void reduced(redco::run::network_state const&, double) override {}
  void updated(redco::run::network_state const&) override {}
  void executed(redco::schedule::step_op const& one) override {
    if (one.operation == redco::schedule::op::backward) end = clock::now();
  }
};

/// Makespan in seconds and idle share of the stages of a step.
struct step_times {
  double makespan = 0, idle = 0;
};

/// Returns the times of a step with one block per stage and `micros` micro-batches. All ranks of a
/// mesh of pipeline stages must call it. The fastest of `rounds` steps counts, after a step of one
/// micro-batch that does not.
inline step_times measured(redco::rank_context& me, redco::schedule::pipeline_kind order, std::int64_t micros,
                           sleeping_config config = {}, int rounds = 1) {
  int const stages = me.mesh.pp;
  config.blocks = stages;
  sleeping_model const model{config};
  redco::run::trained_network<sleeping_model> net(
      model, redco::plan_of(model, me.mesh, std::vector<std::int64_t>(static_cast<std::size_t>(stages), 1)),
      redco::sgd{.lr = 0.1}, redco::dtype::f64, 3, me.rank, {});
  net.store.publish();
  double best = 1e30;
  for (int round = -1; round < rounds; ++round) {
    std::int64_t const count = round < 0 ? 1 : micros;
    end_watch watch;
    redco::run::step_executor step(
        net, me, {.micro_batches = count, .rounds = count, .full_rounds = count, .schedule = order}, 0, &watch);
    sleeping_work work(net, me);
    me.world.barrier();
    auto const begin = clock::now();
    step.run(work, {0, 1});
    at::Tensor const seconds = at::full({1}, std::chrono::duration<double>(watch.end - begin).count(), at::kDouble);
    me.world.all_reduce(seconds, redco::comm::reduce_op::max);
    if (round >= 0) best = std::min(best, seconds.item<double>());
  }
  double const asleep = 1e-6 * static_cast<double>(micros * (config.forward + config.backward));
  return {best, 1 - asleep / best};
}

/// Returns the times of the same step on simulated clocks of the ranks, which do not depend on the
/// machine. All ranks of a mesh of pipeline stages must call it.
inline step_times clocked(redco::rank_context& me, redco::schedule::pipeline_kind order, std::int64_t micros,
                          sleeping_config config = {}) {
  int const stages = me.mesh.pp;
  config.blocks = stages;
  sleeping_model const model{config};
  redco::run::trained_network<sleeping_model> net(
      model, redco::plan_of(model, me.mesh, std::vector<std::int64_t>(static_cast<std::size_t>(stages), 1)),
      redco::sgd{.lr = 0}, redco::dtype::f64, 3, me.rank, {});
  net.store.publish();
  redco::run::step_executor step(net, me,
                                 {.micro_batches = micros, .rounds = micros, .full_rounds = micros, .schedule = order});
  sleeping_work work(net, me);
  simulated_clock own;
  simulated_clock::of_thread() = &own;
  step.run(work, {0, 1});
  simulated_clock::of_thread() = nullptr;
  at::Tensor const end = at::full({1}, own.now, at::kDouble);
  me.world.all_reduce(end, redco::comm::reduce_op::max);
  double const makespan = end.item<double>();
  return {1e-6 * makespan, 1 - static_cast<double>(micros * (config.forward + config.backward)) / makespan};
}

/// Returns the times of the same step by schedule::simulate, without transfers.
inline step_times simulated(int stages, redco::schedule::pipeline_kind order, std::int64_t micros,
                            sleeping_config const& config = {}) {
  redco::schedule::chunk_times const each{
      .forward = config.forward, .input_gradients = config.backward, .weight_gradients = 0};
  auto const run =
      redco::schedule::simulate(redco::schedule::table_of({order, stages, static_cast<int>(micros), 1}), each);
  return {1e-6 * static_cast<double>(run.makespan), run.idle()};
}

}  // namespace timed_stages

/// The computation of `sleeping` on a rank.
template <class X>
struct redco::module<timed_stages::sleeping, X> {
  template <class Config>
  explicit module(nn::builder<Config>& b)
      : factor(b.parameter("factor")),
        forward(b.config().forward),
        backward(b.config().backward),
        jitter(b.config().jitter) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const& ctx) const {
    return x.like(timed_stages::sleeping_function::apply(x.local() * ctx[factor], forward, backward, jitter));
  }

  parameter factor;
  std::int64_t forward, backward, jitter;
};
