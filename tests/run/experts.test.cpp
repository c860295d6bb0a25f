#include "experts.hpp"

#include <redco/run/verify.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

// Fits, evaluations and predictions of a language model with experts, compared with one rank.

namespace experts_test {

template <class Model>
void check_fits(std::vector<mesh> const& meshes, std::int64_t examples, std::int64_t global, std::int64_t micro,
                bool overlap = false) {
  result const expected = fitted<Model>(on_mesh({.dp = 1}), examples, global, micro);
  REQUIRE(expected.predictions.size() == 7);
  for (mesh const& on : meshes) {
    INFO(name_of(on) << " micro-batch " << micro);
    deployer_options where = on_mesh(on);
    if (overlap) where.overlap = true, where.gradient_bucket = 1e-4;
    check_equal(fitted<Model>(where, examples, global, micro), expected);
  }
}

std::vector<mesh> const meshes{{.ep = 2}, {.ep = 4}, {.ep = 2, .tp = 2}, {.dp = 2, .ep = 2}};

}  // namespace experts_test

using namespace experts_test;

TEST_CASE("a fit with experts over ep trains, evaluates and predicts as on one rank, at uneven batches") {
  check_fits<balanced>(meshes, 13, 5, 0);
  check_fits<balanced>(meshes, 13, 5, 1);
  check_fits<descended>(meshes, 7, 4, 1);
  // Buckets of gradients are sent during backward, except in steps with uneven micro-batches.
  check_fits<descended>(meshes, 15, 8, 1, true);
}

TEST_CASE("experts on pipeline stages train, evaluate and predict as on one rank, at uneven batches") {
  std::vector<mesh> const stages{
      {.pp = 2, .ep = 2}, {.pp = 2, .ep = 4}, {.pp = 2, .dp = 2, .ep = 2}, {.pp = 2, .ep = 2, .tp = 2}};
  check_fits<balanced>(stages, 13, 5, 1);
  check_fits<descended>({{.pp = 2, .ep = 2}, {.pp = 2, .ep = 4}}, 7, 4, 0);
  check_fits<descended>({{.pp = 2, .dp = 2, .ep = 2}}, 15, 8, 1, true);
}

TEST_CASE("ranks without a micro-batch join the experts of each chunk of a pipeline stage, in each schedule") {
  result const expected = fitted<balanced>(on_mesh({.dp = 1}), 13, 5, 1);
  for (char const* const schedule : {"gpipe", "1f1b"}) {
    INFO(schedule);
    deployer_options where = on_mesh({.pp = 2, .ep = 2});
    where.schedule = schedule;
    check_equal(fitted<balanced>(where, 13, 5, 1), expected);
  }
  using deep = decoder_of<4, balanced_layer>;
  deployer_options where = on_mesh({.pp = 2, .ep = 2});
  where.schedule = "interleaved";
  where.chunks_per_stage = 2;
  check_equal(fitted<deep>(where, 15, 8, 1), fitted<deep>(on_mesh({.dp = 1}), 15, 8, 1));
}

namespace experts_test {

template <class Net>
terms two_losses(Net const& net, at::Tensor const& ids) {
  auto const y = net(ids);
  return terms{{{"next", cross_entropy(y, ids.roll(-1, 1)), 1.0},
                {"own", cross_entropy(y, ids.masked_fill(ids.gt(4), -100)), 0.5}}};
}

auto two_terms() {
  return collate([](std::span<std::int64_t const> examples) {
           at::Tensor const t = at::arange(9, at::kLong);
           std::vector<at::Tensor> rows;
           for (std::int64_t const id : examples) rows.push_back((t * t * 3 + id * 7 + t * id).remainder(11));
           return at::stack(rows);
         }) |
         loss([](auto const& net, at::Tensor const& ids) { return two_losses(net, ids); });
}

/// Fits a loss of two terms to 13 examples. `times`: number of losses that a step of the program's
/// own adds; 0 for a step without such a function.
run_test::outcome fitted_terms(mesh const& on, std::int64_t global, int times) {
  temporary_folder const folder;
  deployer_options where = on_mesh(on);
  where.workdir = folder.path;
  where.deadline = 60;
  auto const pipeline = two_terms();
  run_test::options_of<balanced, std::remove_cvref_t<decltype(pipeline)>> o;
  o.global_batch = global;
  if (times > 0)
    o.train_step = [times](auto& step, auto const& net, at::Tensor const& ids) {
      for (int i = 0; i < times; ++i) step.add(two_losses(net, ids));
    };
  return run_test::fit(where, balanced{}, pipeline, numbers(13), o);
}

}  // namespace experts_test

TEST_CASE("ranks without examples join experts before the counts of a loss of two terms are summed") {
  for (std::int64_t const global : {5, 4}) {
    run_test::outcome const one = fitted_terms({.dp = 1}, global, 0);
    REQUIRE(one.losses.size() == (global == 5 ? 3 : 4));
    // The last batch has three examples or one, so that some groups along ep have none.
    for (mesh const& on : {mesh{.ep = 4}, {.dp = 2, .ep = 2}})
      for (int const times : {0, 1}) {
        run_test::outcome const found = fitted_terms(on, global, times);
        INFO(name_of(on) << ", global batch " << global << ", own step " << times << ": " << found.reason);
        REQUIRE(found.losses.size() == one.losses.size());
        CHECK(run_test::difference(one.losses, found.losses) < 1e-10);
        for (auto const& [name, value] : one.state) {
          INFO(name);
          CHECK((found.state.at(name) - value).abs().max().item<double>() < 1e-9);
        }
      }
  }
}

TEST_CASE("a second loss of several terms in a step of the program's own is refused on each mesh") {
  for (mesh const& on : {mesh{.dp = 1}, {.ep = 2}, {.ep = 4}}) {
    run_test::outcome const found = fitted_terms(on, 5, 2);
    INFO(name_of(on));
    CHECK(found.code == 64);
    CHECK(found.reason.find("a second loss of several terms") != std::string::npos);
  }
}

TEST_CASE("evaluations between steps change no counts of routers, so that biases move as without them") {
  auto const state_of = [](bool evaluates) {
    run_test::silence const quiet;
    temporary_folder const folder;
    deployer deployer(in(folder.path, {.ep = 2}));
    auto const pipeline = run_test::language();
    trainer one(deployer, balanced{}, pipeline, adamw{.lr = 1e-2});
    run_test::options_of<balanced, decltype(pipeline)> o;
    o.global_batch = 4;
    o.sanity_check = evaluates;
    if (evaluates) o.eval = numbers(5), o.eval_every_steps = 1;
    one.fit(numbers(16), o);
    return run_test::whole_state(one.states());
  };
  run_test::tensors const alone = state_of(false);
  CHECK(alone.at("h.0.mlp.gate.bias").abs().max().item<double>() > 0);
  CHECK(run_test::bit_equal(alone, state_of(true)));
}

TEST_CASE("verify passes for experts on every mesh") {
  auto const pipeline = continuing();
  for (mesh const& on : {mesh{.ep = 2}, mesh{.dp = 2, .ep = 2}, mesh{.ep = 2, .tp = 2}, mesh{.dp = 2, .ep = 2, .tp = 2},
                         mesh{.pp = 2, .dp = 2, .ep = 2}}) {
    run_test::silence const quiet;
    temporary_folder const folder;
    deployer deployer(in(folder.path, on));
    trainer one(deployer, balanced{}, pipeline, adamw{.lr = 1e-2, .clip_norm = 0.05});
    run_test::options_of<balanced, decltype(pipeline)> o;
    o.global_batch = 5;
    redco::run::verify_result const found = verify(one, numbers(13), o);
    INFO(found.text(100) << found.verdict());
    CHECK(found.ok());
  }
}

/// A model with large weights, so that activations on two shards round otherwise than on one.
struct spread {
  using net = redco::layers::initialised<real{0.2}, balanced::net>;
  no_config config;
};

TEST_CASE("verify chooses experts whose scores are tied as one rank does") {
  for (mesh const& on : {mesh{.ep = 2, .tp = 2}, {.cp = 2, .tp = 2}}) {
    run_test::silence const quiet;
    temporary_folder const folder;
    deployer_options where = on_mesh(on);
    where.workdir = folder.path;
    where.dtype = dtype::bf16;
    deployer deployer(where);
    auto const pipeline = run_test::language();
    trainer one(deployer, spread{}, pipeline, adamw{.lr = 1e-3});
    run_test::options_of<spread, decltype(pipeline)> o;
    o.global_batch = 64;
    redco::run::verify_result const found = verify(one, numbers(128), o);
    INFO(name_of(on) << ": " << found.text(100) << found.verdict());
    CHECK(found.ok());
    // Scores that are computed from bf16 values round otherwise on two shards.
    CHECK(found.replayed > 0);
    CHECK(found.text(1).find("experts with tied scores are chosen as on one rank: ") != std::string::npos);
  }
}

TEST_CASE("a model without experts refuses ep, and groups that cut the ranks along ep are refused") {
  run_test::silence const quiet;
  temporary_folder const folder;
  auto const reason_of = [&](auto const& model, deployer_options const& where) {
    try {
      deployer deployer(where);
      trainer one(deployer, model, run_test::language(), adamw{});
      run_test::options_of<std::remove_cvref_t<decltype(model)>, decltype(run_test::language())> o;
      o.global_batch = 4;
      one.fit(numbers(4), o);
    } catch (error const& e) {
      return std::to_string(static_cast<int>(e.code())) + " " + e.what();
    }
    return std::string("accepted");
  };
  CHECK(reason_of(balanced{}, in(folder.path, {.ep = 2})) == "accepted");
  CHECK(reason_of(run_test::tied, in(folder.path, {.ep = 2})) ==
        "64 --mesh ep=2: the model has no experts to divide along ep; give these ranks to dp");
  deployer_options where = in(folder.path, {.dp = 4});
  where.zero = 1;
  where.zero_within = "2";
  CHECK(reason_of(run_test::tied, where) == "accepted");
  CHECK(reason_of(balanced{}, where) == "accepted");
  where.mesh = mesh{.dp = 2, .ep = 4};
  CHECK(reason_of(balanced{}, where) ==
        "64 --zero-within 2: the 8 replicas on 1 machine do not divide into such groups of at least 2, each with all "
        "4 ranks along ep; give one of 4, 8");
  CHECK(reason_of(balanced{}, in(folder.path, {.ep = 3})).find("legal") != std::string::npos);
  deployer_options checked = in(folder.path, {.ep = 2});
  checked.check_saved = true;
  CHECK(reason_of(balanced{}, checked).find("--check-saved with ranks along ep: ") != std::string::npos);
}
