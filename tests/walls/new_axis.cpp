#include "temporary_folder.hpp"
#include "walls/expert_bank.hpp"
#include "walls/training.hpp"

#include <redco/ckpt/load_checkpoint.hpp>
#include <redco/ckpt/save_checkpoint.hpp>
#include <redco/update/gradient_norm.hpp>
#include <redco/update/squared_norm.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/cost/messages.hpp>
#include <redco/optimizer/adamw.hpp>

#include <map>
#include <mutex>
#include <string>
#include <vector>

// A layer that is split over ep, with its module, on meshes with that axis: nothing else knows of it.

template <auto Experts, auto Width, auto Hidden>
struct redco::module<expert_test::expert_bank<Experts, Width, Hidden>, redco::entered> {
  template <class Config>
  explicit module(builder<Config>& b) : up(b.parameter("up")), down(b.parameter("down")) {}

  template <class Context>
  tensor<partial> operator()(tensor<entered> const& x, Context const& ctx) const {
    group& experts = ctx.over(axis::ep);
    at::Tensor const in = enter(tensor<replicated>(x.local()), experts).local();
    at::Tensor const hidden = at::tanh(at::einsum("btw,ehw->ebth", {in, ctx[up]}));
    tensor<partial> const mine(at::einsum("ebth,ewh->btw", {hidden, ctx[down]}));
    return tensor<partial>(reduce(mine, experts).local());
  }

  parameter up, down;
};

namespace {

using namespace redco;
using expert_test::mixture;

std::vector<mesh> const meshes{{}, {.ep = 2}, {.ep = 3, .tp = 2}, {.dp = 2, .ep = 2}, {.dp = 2, .ep = 2, .tp = 2}};

/// What one pass over six examples gives, put together from the owners' parts.
struct outcome {
  sharded::tensor_map start, gradients;
  at::Tensor results = at::zeros({6, 2, 3}, at::kDouble);
  double norm = 0;
};

outcome passed(mesh const& on) {
  outcome all;
  std::mutex mutex;
  run_ranks(on, {.threads = 1}, [&](rank_context& rank) {
    trained_network<mixture> const state({}, plan_of(mixture{}, on), adamw{}, dtype::f64, 5, rank.rank, {});
    walls::share const mine = walls::share_of(6, rank);
    pass in = walls::pass_of(rank, mine, 0);
    in.rank = &rank;
    rank.group(axis::ep).reset_counters();
    at::Tensor const x = sharded::values_of("x", std::vector<std::int64_t>{6, 2, 5}).slice(0, mine.begin, mine.end);
    at::Tensor const y = bound_network<mixture>(state.net, in)(x);
    y.pow(2).sum().backward();

    // The ranks along ep have one micro-batch: what is planned for a pass is what was sent.
    workload const load{mine.size(), 2};
    fact::program const facts = facts_of(mixture{}, load);
    setup const run{.mesh = on, .load = load, .compute = dtype::f64};
    cost::messages const planned = cost::messages_of(cost::simulation(facts, run));
    traffic expected;
    for (cost::message_total const& one : planned)
      if (one.over == axes(axis::ep)) expected[one.what] += one;
    sharded::must(rank.group(axis::ep).counters() == expected, "what is sent along ep is planned");

    rank.group(axis::dp).all_reduce(state.store.gradients());
    double const norm = update::gradient_norm(update::squared_norm(state.store.gradients(), state.norm_ranges),
                                              rank.group(model_axes), 1);
    std::lock_guard const lock(mutex);
    all.norm = norm;
    all.results.slice(0, mine.begin, mine.end).copy_(y.detach());
    for (stored_parameter const& p : state.store.parameters()) {
      if (!p.plan.owns(rank.rank)) continue;
      sharded::placing const at{p.plan, rank.rank};
      auto const put = [&](sharded::tensor_map& to, at::Tensor const& local) {
        at::Tensor& whole = to[p.name];
        if (!whole.defined()) whole = at::zeros(sharded::sizes_of(p.plan.fact.shape), local.options());
        at.place(whole).add_(at.own(local.detach()));
      };
      put(all.start, p.value);
      put(all.gradients, p.gradient);
    }
  });
  return all;
}

}  // namespace

TEST_CASE("a layer that is split over a new axis computes what one rank computes") {
  outcome const one = passed({});
  REQUIRE(one.gradients.size() == 6);
  for (mesh const& on : meshes) {
    INFO("mesh " << walls::name_of(on));
    outcome const many = passed(on);
    CHECK(sharded::distance(many.results, one.results) < 1e-12);
    CHECK(many.norm == Approx(one.norm).epsilon(1e-12));
    for (auto const& [name, whole] : one.gradients) {
      INFO(name);
      CHECK(many.start.at(name).equal(one.start.at(name)));
      CHECK(sharded::distance(many.gradients.at(name), whole) < 1e-12);
    }
  }
}

TEST_CASE("a checkpoint of a mesh with a new axis loads on any other") {
  for (mesh const& from : meshes)
    for (mesh const& to : meshes) {
      INFO(walls::name_of(from) << " to " << walls::name_of(to));
      temporary_folder const folder;
      auto const state_on = [](mesh const& on, std::uint64_t seed, rank_context const& rank) {
        return trained_network<mixture>({}, plan_of(mixture{}, on), adamw{}, dtype::f64, seed, rank.rank, {});
      };
      run_ranks(from, {.threads = 1}, [&](rank_context& rank) {
        auto const state = state_on(from, 5, rank);
        workdir::save_options options{.workdir = folder.path, .facts = {}};
        options.facts.run = "a";
        options.facts.step = 1;
        options.facts.mesh = from;
        ckpt::save_checkpoint(options, state.parts(), rank.world);
      });
      run_ranks(to, {.threads = 1}, [&](rank_context& rank) {
        auto const wanted = state_on(to, 5, rank), state = state_on(to, 6, rank);
        auto const found = ckpt::find_checkpoint(rank.world, folder.path, "auto");
        sharded::must(found && found->facts.mesh == from, "the mesh that saved");
        ckpt::load_checkpoint(*found, state.parts(), rank.world);
        sharded::must(state.store.values().equal(wanted.store.values()), "bit for bit");
      });
    }
}
