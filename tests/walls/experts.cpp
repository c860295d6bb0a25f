#include "walls/checkpoints.hpp"
#include "walls/training.hpp"

#include <redco/ckpt/state_part.hpp>
#include <redco/cost/messages.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/experts.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

// Models with experts train alike on one rank and on meshes that divide the experts.

namespace {

using namespace redco;
using redco::layers::moe, redco::layers::experts, redco::layers::top, redco::layers::real;
namespace dispatch = redco::layers::dispatch;
namespace routing = redco::layers::routing;

constexpr std::int64_t width = 8, hidden = 12, count = 8;
using all_experts = experts<count, width, hidden>;

/// A network with two layers of experts between dense layers.
template <class Layer>
struct mixture {
  using block = residual<sequential<named<"norm", rms_norm<width>>, named<"mlp", Layer>>>;
  using net = sequential<named<"in", redco::layers::replicated_linear<5, width>>, named<"h", repeat<2, block>>,
                         named<"out", redco::layers::replicated_linear<width, 3>>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, load.sequence, 5}; }
};

using routed =
    mixture<moe<all_experts, top<2>, dispatch::cdac, routing::auxiliary_loss<real{0.01}>, routing::normalised<>>>;
using descended = mixture<moe<all_experts, top<3>, dispatch::dcca<real{0.25}>>>;
using with_shared = mixture<
    sum<moe<all_experts, top<2>>, named<"shared", sequential<gated<width, 6>, named<"down", linear<6, width>>>>>>;
using with_biases = mixture<moe<all_experts, top<2>, dispatch::cdac, routing::balanced_by_bias<real{0.01}>>>;

std::vector<mesh> const meshes{{.ep = 2},          {.ep = 4},          {.ep = 2, .tp = 2},
                               {.dp = 2, .ep = 2}, {.dp = 2, .tp = 2}, {.dp = 2, .ep = 2, .tp = 2}};

at::Tensor examples_of(walls::share const& mine) {
  return sharded::values_of("x", std::vector<std::int64_t>{12, 6, 5}).slice(0, mine.begin, mine.end) * 2;
}

/// Returns a loss whose weights differ between examples.
template <class Net>
mean weighted_loss(Net const& net, walls::share const& mine, int step) {
  at::Tensor const y = net(examples_of(mine) * (1 + step));
  at::Tensor const weights = sharded::values_of("weight", std::vector<std::int64_t>{12, 6, 3});
  return {(y.pow(2) * weights.slice(0, mine.begin, mine.end)).sum(), static_cast<double>(6 * mine.size())};
}

/// The unsharded gradients of the last step, the state after it (parameters and the optimizer's
/// moments), losses, and norms before clipping.
struct stepped {
  sharded::tensor_map gradients, state;
  std::vector<double> losses, norms;
};

/// Adds this rank's parts of the state to the unsharded tensors `all`.
void add_state(sharded::tensor_map& all, std::vector<redco::ckpt::state_part> const& parts) {
  static std::mutex one_at_a_time;
  std::lock_guard const lock(one_at_a_time);
  for (redco::ckpt::state_part const& part : parts) {
    at::Tensor& whole = all[part.name];
    if (!whole.defined()) whole = at::full(part.shape, std::nan(""), part.local.options());
    at::Tensor to = whole, from = part.local;
    for (std::size_t d = 0; d < part.shape.size(); ++d) {
      auto const dim = static_cast<std::int64_t>(d);
      to = to.narrow(dim, part.box.offset[d], part.box.shape[d]);
      from = from.narrow(dim, 0, part.box.shape[d]);
    }
    to.copy_(from);
  }
}

/// Trains `steps` steps. If `apart`, a rank adds one loss for each of its examples.
template <class M>
stepped train(mesh const& on, std::int64_t examples, int steps, bool apart = false, std::int64_t bucket = 0) {
  stepped result;
  sharded::whole_tensors gradients;
  redco::comm::run_ranks(on, {.threads = 1}, [&](rank_context& rank) {
    redco::run::trained_network<M> state({}, plan_of(M{}, on), adamw{.lr = 0.02, .clip_norm = 0.02}, dtype::f64, 5,
                                         rank.rank, {});
    walls::share const mine = walls::share_of(examples, rank);
    for (int step = 0; step < steps; ++step) {
      redco::run::training_step update(state, rank, false, bucket);
      std::vector<walls::share> parts;
      if (!apart) parts.push_back(mine);
      for (std::int64_t i = mine.begin; apart && i < mine.end; ++i) parts.push_back({i, i + 1});
      for (walls::share const& part : parts) {
        pass const in = walls::pass_of(rank, part, step);
        if (part.end == mine.end) update.expect_last();
        update.add(weighted_loss(bound_network<M>(state.net, in), part, step));
      }
      redco::run::step_result const done = update.finish(step, steps, false);
      if (rank.rank == 0) result.norms.push_back(done.grad_norm), result.losses.push_back(done.loss);
    }
    add_state(result.state, state.parts());
    if (rank.dp_index() > 0) return;
    int const at = rank.coordinate(redco::shape::model_axes);
    for (auto const& p : state.store.parameters())
      if (p.trainable) gradients.add(p, p.gradient.clone(), at);
  });
  result.gradients = gradients.all();
  return result;
}

void check_alike(stepped const& found, stepped const& expected, double tolerance = 1e-10) {
  REQUIRE(found.norms.size() == expected.norms.size());
  for (std::size_t i = 0; i < expected.norms.size(); ++i) {
    CHECK(found.norms[i] == Approx(expected.norms[i]).epsilon(tolerance));
    CHECK(found.losses[i] == Approx(expected.losses[i]).epsilon(tolerance));
  }
  for (auto const& [name, value] : expected.gradients) {
    INFO("gradient of " << name);
    CHECK(sharded::distance(found.gradients.at(name), value) < tolerance);
  }
  REQUIRE(found.state.size() == expected.state.size());
  for (auto const& [name, value] : expected.state) {
    INFO(name);
    CHECK(sharded::distance(found.state.at(name), value) < tolerance);
  }
}

template <class M>
void check_training(std::int64_t examples, int steps = 3, bool apart = false, std::int64_t bucket = 0) {
  stepped const one = train<M>({}, examples, steps);
  REQUIRE(one.norms.front() > 0.02);  // the gradient is clipped
  for (mesh const& on : meshes) {
    INFO("mesh " << walls::name_of(on) << " examples " << examples);
    check_alike(train<M>(on, examples, steps, apart, bucket), one);
  }
}

/// A layer of experts alone, with four experts and as many features.
template <class Dispatch, std::int64_t K>
struct bare {
  using net = sequential<named<"moe", moe<experts<4, 4, 6>, top<K>, Dispatch>>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, load.sequence, 4}; }
};

/// Runs forward and backward with a router whose scores are `x` [examples of all ranks, T, 4].
/// Returns the counters of rank 0 along ep.
template <class M>
redco::shape::traffic traffic_of(mesh const& on, at::Tensor const& x) {
  redco::shape::traffic counted;
  redco::comm::run_ranks(on, {.threads = 1}, [&](rank_context& rank) {
    redco::nn::parameter_store const store(redco::shard::placed_parameters(plan_of(M{}, on)), rank.rank, dtype::f64, 3);
    for (auto const& p : store.parameters())
      if (p.name == "moe.gate.weight") at::Tensor(p.value.detach()).copy_(at::eye(4, at::kDouble));
    auto const net = std::make_shared<redco::nn::network<M> const>(M{}, store, rank.rank, on);
    walls::share const mine = walls::share_of(x.size(0), rank);
    pass const in = walls::pass_of(rank, mine, 0);
    comm::group& ranks = rank.group(redco::shape::axis::ep);
    at::Tensor const own = x.slice(0, mine.begin, mine.end).clone().requires_grad_();
    ranks.reset_counters();
    bound_network<M>(net, in)(own).pow(2).sum().backward();
    if (rank.rank == 0) counted = ranks.counters();
  });
  return counted;
}

/// Returns inputs whose token t prefers the experts t, t + 1, ... modulo 4.
at::Tensor cyclic(std::int64_t examples, std::int64_t tokens) {
  at::Tensor const t = at::arange(tokens, at::kLong).unsqueeze(1), e = at::arange(4, at::kLong).unsqueeze(0);
  at::Tensor const scores = (4 - (e - t).remainder(4)).to(at::kDouble);
  return scores.unsqueeze(0).expand({examples, tokens, 4}).contiguous();
}

}  // namespace

TEST_CASE("expert gradients are equal on ep 1, 2 and 4, also with tp and dp: not doubled") {
  check_training<routed>(7);
  check_training<descended>(8);
  check_training<with_shared>(5);
}

TEST_CASE("router gradients are equal on every mesh, not only the loss") {
  stepped const one = train<descended>({}, 5, 1);
  for (mesh const& on : {mesh{.ep = 4}, mesh{.ep = 2, .tp = 2}, mesh{.tp = 2}}) {
    stepped const found = train<descended>(on, 5, 1);
    for (char const* const name : {"h.0.mlp.gate.weight", "h.1.mlp.gate.weight", "h.0.mlp.descend.weight"}) {
      INFO(name << " on " << walls::name_of(on));
      CHECK(one.gradients.at(name).abs().max().item<double>() > 1e-4);
      CHECK(sharded::distance(found.gradients.at(name), one.gradients.at(name)) < 1e-12);
    }
  }
}

TEST_CASE("the norm before clipping includes each expert once under ep and tp") {
  stepped const one = train<routed>({}, 4, 1);
  double squares = 0;
  for (auto const& [name, gradient] : one.gradients) squares += (gradient / 24).pow(2).sum().item<double>();
  CHECK(one.norms[0] == Approx(std::sqrt(squares)).epsilon(1e-10));
  for (mesh const& on : {mesh{.ep = 2, .tp = 2}, mesh{.dp = 2, .ep = 2, .tp = 2}})
    CHECK(train<routed>(on, 4, 1).norms[0] == Approx(one.norms[0]).epsilon(1e-10));
}

TEST_CASE("the bias of a shared expert beside routed ones is added once, not tp times") {
  stepped const one = train<with_shared>({}, 4, 2);
  stepped const found = train<with_shared>({.tp = 2}, 4, 2);
  check_alike(found, one);
  CHECK(one.state.contains("h.0.mlp.shared.down.bias"));
}

TEST_CASE("ranks without examples run 0 rows through every exchange, and train like one rank") {
  check_training<routed>(1);
  check_training<descended>(3);
}

TEST_CASE("ranks with fewer micro-batches take part in the others' exchanges, and train like one rank") {
  check_training<routed>(7, 2, true);
  check_training<descended>(3, 2, true);
  check_training<routed>(7, 2, true, 64);
}

TEST_CASE("biases that balance loads count the tokens of all ranks, and train alike on every mesh") {
  check_training<with_biases>(7);
}

TEST_CASE("an expert with zero tokens still gets decay and moments, equal on every mesh") {
  // The tokens of one example leave some of the eight experts without rows.
  using few = mixture<moe<all_experts, top<1>>>;
  stepped const one = train<few>({}, 1, 3);
  bool starved = false;
  for (std::int64_t e = 0; e < count; ++e)
    starved = starved || one.gradients.at("h.0.mlp.experts.up")[e].eq(0).all().item<bool>();
  REQUIRE(starved);
  // Weights of an expert that never had a token change by decay alone.
  stepped const start = train<few>({}, 1, 0);
  std::int64_t idle = 0;
  for (std::int64_t e = 0; e < count; ++e) {
    if (!one.state.at("optimizer.exp_avg_sq.h.0.mlp.experts.up")[e].eq(0).all().item<bool>()) continue;
    ++idle;
    at::Tensor const expected = start.state.at("h.0.mlp.experts.up")[e] * std::pow(1 - 0.02 * adamw{}.weight_decay, 3);
    CHECK(sharded::distance(one.state.at("h.0.mlp.experts.up")[e], expected) < 1e-14);
  }
  CHECK((idle > 0 && idle < count));
  CHECK(adamw{}.weight_decay > 0);
  for (mesh const& on : {mesh{.ep = 2}, mesh{.ep = 4}, mesh{.ep = 2, .tp = 2}, mesh{.dp = 2, .ep = 2}}) {
    INFO("mesh " << walls::name_of(on));
    check_alike(train<few>(on, 1, 3), one);
  }
}

TEST_CASE("uniform routing sends 2 k (ep - 1) / ep b s r h elements per direction; DCCA sends r of CDAC") {
  constexpr std::int64_t examples = 3, tokens = 8;
  for (int const ep : {2, 4}) {
    auto const of = [&]<class M>(M) {
      return traffic_of<M>({.ep = ep}, cyclic(examples * ep, tokens))[redco::shape::collective::all_to_all];
    };
    // Bytes of both directions in f64
    auto const closed = [&](std::int64_t k, std::int64_t features) {
      return 2 * (2 * k * (ep - 1) * examples * tokens * features / ep) * 8;
    };
    auto const cdac1 = of(bare<dispatch::cdac, 1>()), cdac2 = of(bare<dispatch::cdac, 2>());
    auto const dcca2 = of(bare<dispatch::dcca<real{0.25}>, 2>());
    CHECK(cdac1.calls == 4);
    CHECK(cdac1.wire_bytes == closed(1, 4));
    CHECK(cdac2.wire_bytes == closed(2, 4));
    CHECK(dcca2.wire_bytes == closed(2, 1));
    CHECK(4 * dcca2.wire_bytes == cdac2.wire_bytes);
  }
}

TEST_CASE("skewed routing sends the rows of the actual counts: all tokens to one expert") {
  // All tokens prefer expert 0, which is on rank 0. Rank 0 sends no row in dispatch, and returns 12
  // rows to rank 1. Backward mirrors both.
  at::Tensor const x = at::tensor({3.0, 2.0, 1.0, 0.0}, at::kDouble).expand({4, 6, 4}).contiguous();
  auto const of = traffic_of<bare<dispatch::cdac, 1>>({.ep = 2}, x)[redco::shape::collective::all_to_all];
  std::int64_t const rows = 2 * 6, row_bytes = 4 * 8;
  CHECK(of.wire_bytes == 2 * rows * row_bytes);
  CHECK(of.payload_bytes == 2 * (rows + 2 * rows) * row_bytes);
}

TEST_CASE("messages of experts are planned: the bytes of uniform routing") {
  for (mesh const& on : {mesh{.ep = 2}, mesh{.dp = 2, .ep = 4}, mesh{.ep = 2, .tp = 2}}) {
    INFO("mesh " << walls::name_of(on));
    using model = bare<dispatch::dcca<real{0.5}>, 2>;
    redco::cost::setup const run{.mesh = on, .load = {3, 8}, .compute = dtype::f64};
    fact::program const facts = redco::shard::facts_of(model{}, run.load);
    redco::shape::traffic::entry planned;
    for (cost::message_total const& one : cost::messages_of(cost::simulation(facts, run)))
      if (one.over == redco::shape::axes(redco::shape::axis::ep)) planned += one;
    auto const counted = traffic_of<model>(on, cyclic(3 * on.dp * on.ep, 8))[redco::shape::collective::all_to_all];
    CHECK(planned == counted);
  }
}

TEST_CASE("a checkpoint of experts on one mesh loads on any other") {
  walls::check_checkpoints<routed>({{}, {.ep = 2}, {.ep = 4, .tp = 2}, {.dp = 2, .ep = 2}});
}
