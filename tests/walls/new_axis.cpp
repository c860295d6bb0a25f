#include "walls/checkpoints.hpp"
#include "walls/expert_bank.hpp"
#include "walls/training.hpp"

#include <redco/cost/messages.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

// Layers that are split over ep, with their modules, on meshes with that axis. The rest of the
// library knows nothing about them.

namespace expert_test {

/// Sends rows [sum of rows_to, W] to the ranks along ep. Backward sends the gradients back.
struct exchange : torch::autograd::Function<exchange> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor const& x, std::int64_t ranks,
                            std::vector<std::int64_t> const& rows_to) {
    auto arrived = reinterpret_cast<redco::comm::group*>(ranks)->all_to_all_v(x, rows_to);
    ctx->saved_data["ranks"] = ranks;
    ctx->saved_data["back"] = arrived.from;
    return arrived.rows.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list const& g) {
    auto* const ranks = reinterpret_cast<redco::comm::group*>(ctx->saved_data["ranks"].toInt());
    return {ranks->all_to_all_v(g[0], ctx->saved_data["back"].toIntVector()).rows.clone(), {}, {}};
  }
};

}  // namespace expert_test

template <auto Experts, auto Width, auto Hidden>
struct redco::module<expert_test::expert_bank<Experts, Width, Hidden>, redco::shape::entered> {
  template <class Config>
  explicit module(redco::nn::builder<Config>& b) : up(b.parameter("up")), down(b.parameter("down")) {}

  template <class Context>
  tensor<shape::partial> operator()(tensor<shape::entered> const& x, Context const& ctx) const {
    comm::group& ranks = ctx.over(shape::axis::ep);
    auto const handle = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&ranks));
    std::int64_t const own = ctx[up].size(0), examples = x.local().size(0), width = x.local().size(2);
    std::vector<std::int64_t> const rows_to(static_cast<std::size_t>(ranks.size()), own * examples);
    at::Tensor const tokens = x.local().transpose(0, 1).reshape({-1, width});
    at::Tensor const arrived = expert_test::exchange::apply(tokens, handle, rows_to);

    std::vector<std::int64_t> from(rows_to.size());
    at::Tensor const counts = ranks.all_gather(at::full({1}, own * examples, at::kLong), 0);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = counts.const_data_ptr<std::int64_t>()[i];
    std::vector<at::Tensor> results;
    for (at::Tensor const& rows : arrived.split_with_sizes(from)) {
      at::Tensor const hidden = at::tanh(rows.view({own, -1, width}).bmm(ctx[up].transpose(1, 2)));
      results.push_back(hidden.bmm(ctx[down].transpose(1, 2)).view({-1, width}));
    }
    at::Tensor const back = expert_test::exchange::apply(at::cat(results), handle, from);
    return tensor<shape::partial>(back.view({-1, examples, width}).transpose(0, 1));
  }

  parameter up, down;
};

namespace {

using namespace redco;
using expert_test::mixture;

std::vector<mesh> const meshes{{}, {.ep = 2}, {.ep = 3, .tp = 2}, {.dp = 2, .ep = 2}, {.dp = 2, .ep = 2, .tp = 2}};

tensor<redco::shape::replicated> examples_of(walls::share const& mine) {
  return tensor<redco::shape::replicated>(
      sharded::values_of("x", std::vector<std::int64_t>{12, 6, 5}).slice(0, mine.begin, mine.end));
}

}  // namespace

TEST_CASE("experts whose ranks have different examples train as on one rank") {
  // Seven examples over two, three or four replicas, which then have different numbers of tokens.
  auto const loss = [](auto const& net, walls::share const& mine, int step) {
    at::Tensor const y = net(examples_of(mine).local() * (1 + step));
    return mean{
        (y.pow(2) * sharded::values_of("weight", std::vector<std::int64_t>{7, 6, 3}).slice(0, mine.begin, mine.end))
            .sum(),
        static_cast<double>(6 * mine.size())};
  };
  walls::check_meshes(mixture{}, adamw{.lr = 0.02}, {.steps = 5, .examples = 7}, loss, meshes);
}

TEST_CASE("the messages of experts are planned") {
  for (mesh const& on : meshes) {
    INFO("mesh " << walls::name_of(on));
    redco::comm::run_ranks(on, {.threads = 1}, [&](rank_context& rank) {
      redco::run::trained_network<mixture> const state({}, plan_of(mixture{}, on), adamw{}, dtype::f64, 5, rank.rank,
                                                       {});
      walls::share const mine = walls::share_of(12, rank);
      pass const in = walls::pass_of(rank, mine, 0);
      rank.group(redco::shape::axis::ep).reset_counters();
      bound_network<mixture>(state.net, in)(examples_of(mine).local()).pow(2).sum().backward();
      redco::cost::setup const run{.mesh = on, .load = {mine.size(), 6}, .compute = dtype::f64};
      fact::program const facts = redco::shard::facts_of(mixture{}, run.load);
      redco::shape::traffic::entry expected;
      for (cost::message_total const& one : cost::messages_of(cost::simulation(facts, run)))
        if (one.over == redco::shape::axes(redco::shape::axis::ep) &&
            one.collective == redco::shape::collective::all_to_all)
          expected += one;
      redco::shape::traffic::entry counted =
          rank.group(redco::shape::axis::ep).counters()[redco::shape::collective::all_to_all];
      sharded::must((expected.calls == 4) == (on.ep > 1) && counted == expected, "messages along ep are planned");
    });
  }
}

namespace {

/// A layer that returns one number for each rank along ep. The loss multiplies the number.
struct own_numbers {
  using layer_concept = redco::layers::leaf_tag;
  template <class X>
  using out = redco::shape::replicated;
  template <class X, class Config>
  static constexpr void facts(Config const&, fact::recorder& w) {
    fact::parameter_fact number;
    number.shape = {2};
    number.split(redco::shape::axis::ep, 0, 2);
    number.start = {fact::initial::kind::zeros, 0};
    w.parameter("number", number);
    w.uncounted();
    w.produce({1, 1});
  }
};

struct two_numbers {
  using net = sequential<named<"own", own_numbers>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, 1}; }
};

}  // namespace

template <>
struct redco::module<own_numbers, redco::shape::replicated> {
  template <class Config>
  explicit module(redco::nn::builder<Config>& b) : number(b.parameter("number")) {}
  template <class Context>
  tensor<shape::replicated> operator()(tensor<shape::replicated> const& x, Context const& ctx) const {
    return tensor<shape::replicated>(x.local() * ctx[number]);
  }
  parameter number;
};

TEST_CASE("the gradient of a parameter that is split over ep is not summed over ep") {
  // Two examples, one on each rank, whose gradients for the ranks' own numbers are 1 and 10. The
  // mean over the batch changes the numbers by 1 / 2 and 10 / 2, with buckets too.
  for (std::int64_t const bucket : {0, 64}) {
    redco::comm::run_ranks({.ep = 2}, {.threads = 1}, [&](rank_context& rank) {
      redco::run::trained_network<two_numbers> state({}, plan_of(two_numbers{}, rank.mesh), sgd{.lr = 1}, dtype::f64, 5,
                                                     rank.rank, {});
      pass const in = walls::pass_of(rank, walls::share_of(2, rank), 0);
      redco::run::training_step step(state, rank, false, bucket);
      step.expect_last();
      at::Tensor const x = at::full({1, 1}, rank.rank == 0 ? 1.0 : 10.0, at::kDouble);
      step.add(mean{bound_network<two_numbers>(state.net, in)(x).sum(), 1});
      redco::run::step_result const done = step.finish(0, 1, false);
      double const number = state.store.parameters()[0].value.item<double>();
      sharded::must(number == (rank.rank == 0 ? -0.5 : -5.0), "moved by " + std::to_string(number));
      sharded::must(done.weight == 2 && std::abs(done.grad_norm - std::sqrt(0.25 + 25)) < 1e-15, "the norm of both");
    });
  }
}

TEST_CASE("a checkpoint of a mesh with a new axis loads on any other") { walls::check_checkpoints<mixture>(meshes); }
