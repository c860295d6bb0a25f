#include "language.hpp"
#include "training.hpp"

#include <redco/text/batches.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/options/value_text.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/pipeline/functions.hpp>

#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <vector>

using run_test::in;
using run_test::outcome;

namespace {

redco::mesh const equal_meshes[] = {{.dp = 1}, {.dp = 2}, {.dp = 3}, {.tp = 2}, {.tp = 3}, {.dp = 2, .tp = 2}};

using gpt2_options = run_test::options_of<redco::gpt2, decltype(run_test::language())>;

// 11 examples, 5 at a time: the last step of an epoch has one example, and some replicas have none.
gpt2_options steps_of_gpt2(std::int64_t steps) {
  gpt2_options o;
  o.epochs = 20;
  o.max_steps = steps;
  o.global_batch = 5;
  o.save_last = false;
  return o;
}

outcome fit_gpt2(redco::deployer_options const& where, gpt2_options const& options) {
  outcome run = run_test::fit(where, run_test::tied, run_test::language(), run_test::numbers(11), options,
                              {.lr = 3e-3, .clip_norm = 0.5});
  INFO(run.reason);
  CHECK(run.code == 0);
  return run;
}

}  // namespace

TEST_CASE("every mesh gives the same losses with dropout, to 1e-10 over 50 steps in f64 and to 1e-5 over 20 in f32") {
  struct {
    redco::dtype type;
    std::int64_t steps;
    double tolerance;
  } const cases[] = {{redco::dtype::f64, 50, 1e-10}, {redco::dtype::f32, 20, 1e-5}};
  for (auto const& one : cases) {
    std::vector<double> first;
    for (redco::mesh const mesh : equal_meshes) {
      INFO(name_of(one.type) << " on " << mesh.dp << "x" << mesh.tp);
      temporary_folder folder;
      redco::deployer_options where = in(folder.path, mesh);
      where.dtype = one.type;
      where.check_saved = true;
      outcome const run = fit_gpt2(where, steps_of_gpt2(one.steps));
      REQUIRE(run.losses.size() == static_cast<std::size_t>(one.steps));
      if (first.empty()) first = run.losses;
      CHECK(run.losses.back() < 0.95 * run.losses.front());
      CHECK(run_test::difference(first, run.losses) < one.tolerance);
    }
  }
}

TEST_CASE("split tokens of any number give equal losses and gradients, recomputed or not") {
  temporary_folder one;
  outcome const whole = fit_gpt2(in(one.path), steps_of_gpt2(30));
  redco::models::sequence_parallel<redco::gpt2> const split{run_test::tied.config};
  for (redco::mesh const mesh : {redco::mesh{.dp = 1}, {.tp = 2}, {.tp = 3}, {.dp = 2, .tp = 2}})
    for (bool const recompute : {false, true}) {
      INFO(mesh.dp << "x" << mesh.tp << (recompute ? ", recomputed" : ""));
      temporary_folder folder;
      redco::deployer_options where = in(folder.path, mesh);
      where.recompute = recompute;
      where.check_saved = true;
      run_test::options_of<redco::models::sequence_parallel<redco::gpt2>, decltype(run_test::language())> o;
      o.epochs = 20;
      o.max_steps = 30;
      o.global_batch = 5;
      o.save_last = false;
      outcome const run =
          run_test::fit(where, split, run_test::language(), run_test::numbers(11), o, {.lr = 3e-3, .clip_norm = 0.5});
      INFO(run.reason);
      REQUIRE(run.code == 0);
      CHECK(run_test::difference(whole.losses, run.losses) < 1e-10);
      for (auto const& [name, value] : whole.state) CHECK(at::allclose(run.state.at(name), value, 1e-8, 1e-10));
    }
}

TEST_CASE("every mesh starts from the same parameters bit for bit, and another seed gives other parameters") {
  for (redco::dtype const type : {redco::dtype::f64, redco::dtype::f32, redco::dtype::bf16}) {
    run_test::tensors first;
    gpt2_options o = steps_of_gpt2(0);
    o.epochs = 0;
    for (redco::mesh const mesh : equal_meshes) {
      temporary_folder folder;
      redco::deployer_options where = in(folder.path, mesh);
      where.dtype = type;
      auto const state = fit_gpt2(where, o).state;
      if (first.empty()) first = state;
      CHECK(run_test::bit_equal(first, state));
      CHECK(state.contains("master.wte.weight") == (type == redco::dtype::bf16));
    }
    temporary_folder folder;
    redco::deployer_options where = in(folder.path);
    where.dtype = type;
    where.seed = 43;
    CHECK_FALSE(at::equal(first.at("wte.weight"), fit_gpt2(where, o).state.at("wte.weight")));
  }
}

TEST_CASE("every mesh drops the same features of the same examples") {
  using dropped = redco::model_of<
      redco::sequential<redco::named<"wte", redco::embedding<11, 6>>, redco::dropout<redco::layers::real{0.2}>,
                        redco::layers::enter_layer, redco::named<"up", redco::column_linear<6, 12>>,
                        redco::dropout<redco::layers::real{0.4}>>>;
  dropped const model{};
  at::Tensor const ids = (at::arange(5 * 4, at::kLong) * 7).remainder(11).view({5, 4});
  at::Tensor first;
  for (redco::mesh const mesh : equal_meshes) {
    at::Tensor const kept = at::zeros({5, 4, 12}, at::kBool);
    auto const plan = redco::plan_of(model, mesh);
    redco::comm::run_ranks(mesh, {}, [&](redco::rank_context& rank) {
      redco::run::trained_network<dropped> const state(model, plan, redco::adamw{}, redco::dtype::f64, 3, rank.rank,
                                                       {});
      auto const own = redco::data::shard_of({0, 5}, mesh.dp, rank.dp_index());
      redco::pass const pass = redco::nn::training_pass(rank, 3, 17).with_examples(own.begin, own.size());
      at::Tensor const y = redco::bound_network<dropped>(state.net, pass)(ids.slice(0, own.begin, own.end));
      if (rank.tp_index() == 0) kept.slice(0, own.begin, own.end).copy_(y.detach().ne(0));
    });
    if (!first.defined()) first = kept;
    CHECK(at::equal(first, kept));
  }
  double const share = first.to(at::kDouble).mean().item<double>();
  CHECK(share > 0.5);
  CHECK(share < 0.7);
}

TEST_CASE("micro-batches of any size and recomputation give the same losses") {
  std::vector<double> first;
  for (redco::mesh const mesh : {redco::mesh{.dp = 1}, {.dp = 2}, {.dp = 2, .tp = 2}}) {
    for (std::int64_t const micro : {0, 1, 2}) {
      for (redco::recomputed_blocks const& recompute :
           {redco::recomputed_blocks(false), redco::recomputed_blocks(true), redco::recomputed_blocks::every_kth(2),
            redco::recomputed_blocks::first_n(1)}) {
        INFO(mesh.dp << "x" << mesh.tp << ", micro-batch " << micro << ", recomputed "
                     << redco::options::to_text(recompute));
        temporary_folder folder;
        redco::deployer_options where = in(folder.path, mesh);
        where.recompute = recompute;
        where.check_saved = true;
        gpt2_options o = steps_of_gpt2(12);
        o.micro_batch = micro;
        o.prefetch = static_cast<int>(micro);
        outcome const run = fit_gpt2(where, o);
        if (first.empty()) first = run.losses;
        CHECK(run_test::difference(first, run.losses) < 1e-10);
      }
    }
  }
}

TEST_CASE("bf16 with masters is within 1 % of f32 after 200 steps", "[.][long_bf16]") {
  temporary_folder folder;
  redco::deployer_options where = in(folder.path, {.tp = 2});
  where.dtype = redco::dtype::f32;
  gpt2_options o = steps_of_gpt2(201);
  o.epochs = 67;  // 67 epochs of three steps and 11 examples
  outcome const f32 = fit_gpt2(where, o);
  where.dtype = redco::dtype::bf16;
  outcome const bf16 = fit_gpt2(where, o);
  REQUIRE(bf16.losses.size() == 201);
  auto const last_epochs = [](outcome const& run) {  // a single batch would be too noisy
    return std::accumulate(run.losses.end() - 30, run.losses.end(), 0.0) / 30;
  };
  INFO("f32 " << last_epochs(f32) << ", bf16 " << last_epochs(bf16));
  CHECK(std::abs(last_epochs(bf16) - last_epochs(f32)) < 0.01 * last_epochs(f32));
}

TEST_CASE("bf16 with masters follows f32, and resumes bit for bit") {
  temporary_folder exact, whole, broken;
  redco::deployer_options where = in(exact.path, {.tp = 2});
  where.dtype = redco::dtype::f32;
  outcome const f32 = fit_gpt2(where, steps_of_gpt2(60));
  where.dtype = redco::dtype::bf16;
  where.workdir = whole.path;
  outcome const bf16 = fit_gpt2(where, steps_of_gpt2(60));
  REQUIRE(bf16.losses.size() == 60);
  CHECK(std::abs(bf16.losses[59] - f32.losses[59]) < 0.02 * f32.losses[59]);
  CHECK(bf16.losses != f32.losses);
  where.workdir = broken.path;
  where.resume = "auto";
  std::vector<double> losses;
  for (std::int64_t const stop : {7, 60}) {
    gpt2_options o = steps_of_gpt2(stop);
    o.save_last = true;
    outcome const part = fit_gpt2(where, o);
    losses.insert(losses.end(), part.losses.begin(), part.losses.end());
    if (stop == 60) CHECK(run_test::bit_equal(part.state, bf16.state));
  }
  CHECK(losses == bf16.losses);
}
