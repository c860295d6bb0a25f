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

TEST_CASE("ranks without examples join experts before the counts of a loss of two terms are summed") {
  auto const two_terms = collate([](std::span<std::int64_t const> examples) {
                           at::Tensor const t = at::arange(9, at::kLong);
                           std::vector<at::Tensor> rows;
                           for (std::int64_t const id : examples)
                             rows.push_back((t * t * 3 + id * 7 + t * id).remainder(11));
                           return at::stack(rows);
                         }) |
                         loss([](auto const& net, at::Tensor const& ids) {
                           auto const y = net(ids);
                           return terms{{{"next", cross_entropy(y, ids.roll(-1, 1)), 1.0},
                                         {"own", cross_entropy(y, ids.masked_fill(ids.gt(4), -100)), 0.5}}};
                         });
  auto const fit_on = [&](mesh const& on) {
    temporary_folder const folder;
    deployer_options where = on_mesh(on);
    where.workdir = folder.path;
    run_test::options_of<balanced, std::remove_cvref_t<decltype(two_terms)>> o;
    o.global_batch = 5;
    run_test::outcome found = run_test::fit(where, balanced{}, two_terms, numbers(13), o);
    INFO(found.reason);
    REQUIRE(found.losses.size() == 3);
    return found;
  };
  run_test::outcome const one = fit_on({.dp = 1}), four = fit_on({.ep = 4});
  CHECK(run_test::difference(one.losses, four.losses) < 1e-10);
  for (auto const& [name, value] : one.state) {
    INFO(name);
    CHECK((four.state.at(name) - value).abs().max().item<double>() < 1e-9);
  }
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
  run_test::silence const quiet;
  temporary_folder const folder;
  deployer_options where = on_mesh({.ep = 2, .tp = 2});
  where.workdir = folder.path;
  where.dtype = dtype::bf16;
  deployer deployer(where);
  auto const pipeline = run_test::language();
  trainer one(deployer, spread{}, pipeline, adamw{.lr = 1e-3});
  run_test::options_of<spread, decltype(pipeline)> o;
  o.global_batch = 64;
  redco::run::verify_result const found = verify(one, numbers(128), o);
  INFO(found.text(100) << found.verdict());
  CHECK(found.ok());
  // Scores that are computed from bf16 values round otherwise on two shards.
  CHECK(found.replayed > 0);
  CHECK(found.text(1).find("experts with tied scores are chosen as on one rank: ") != std::string::npos);
}

TEST_CASE("a model without experts refuses ep, and experts refuse --zero-within, with exit code 64") {
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
  CHECK(reason_of(balanced{}, where).starts_with("64 --zero-within 2 and a model with experts"));
  CHECK(reason_of(balanced{}, in(folder.path, {.ep = 3})).find("legal") != std::string::npos);
}
