#include "language.hpp"

#include <redco/run/predictor.hpp>
#include <redco/run/verify.hpp>
#include <redco/generate/generate.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/experts.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/wrappers.hpp>

#include <cstdint>
#include <string>
#include <vector>

// Fits, evaluations and predictions of a language model with experts, on meshes whose ranks have
// different numbers of micro-batches and of decoding steps.

namespace experts_test {

using namespace redco;
using redco::layers::moe, redco::layers::experts, redco::layers::top, redco::layers::real;
namespace dispatch = redco::layers::dispatch;
namespace routing = redco::layers::routing;
using run_test::in;
using run_test::numbers;

/// A small decoder whose feed-forward layers are experts.
template <class Layer>
struct decoder {
  static constexpr std::int64_t width = 12;
  using attention = causal_attention<width, 2, redco::layers::rotary<>>;
  using block = sequential<residual<sequential<named<"norm_1", rms_norm<width>>, named<"attn", attention>>>,
                           residual<sequential<named<"norm_2", rms_norm<width>>, named<"mlp", Layer>>>>;
  using net = sequential<named<"wte", embedding<11, width>>, named<"h", repeat<2, block>>,
                         named<"norm", rms_norm<width>>, named<"head", redco::layers::language_head<11, width>>>;
  no_config config;
};

using balanced = decoder<moe<experts<4, 12, 8>, top<2>, dispatch::cdac, routing::auxiliary_loss<real{0.02}>,
                             routing::balanced_by_bias<real{0.01}>>>;
using descended = decoder<moe<experts<4, 12, 12>, top<2>, dispatch::dcca<real{0.5}>>>;

mesh const meshes[] = {{.ep = 2}, {.ep = 4}, {.ep = 2, .tp = 2}, {.dp = 2, .ep = 2}};

/// A language task whose prediction continues each example until token 3, by at most six tokens.
auto continuing() {
  return run_test::language() | predict([](auto const& net, token_batch const& b) {
           at::Tensor const ids = b.input_ids.slice(1, 0, 4);
           at::Tensor const all = generate(net, ids, {.max_new_tokens = 6, .stop_ids = {3}, .pad = 0});
           std::vector<std::int64_t> sums;
           for (std::int64_t row = 0; row < all.size(0); ++row)
             sums.push_back((all[row] * (at::arange(all.size(1), at::kLong) + 1)).sum().template item<std::int64_t>());
           return sums;
         });
}

/// The results of a fit on a mesh.
struct result {
  run_test::tensors state;
  std::vector<std::int64_t> predictions;
};

template <class Model>
result fitted(mesh const& on, std::int64_t examples, std::int64_t global, std::int64_t micro, bool overlap = false) {
  temporary_folder const folder;
  run_test::silence const quiet;
  auto const pipeline = continuing();
  deployer_options where = in(folder.path, on);
  if (overlap) where.overlap = true, where.gradient_bucket = 1e-4;
  deployer deployer(where);
  trainer one(deployer, Model{}, pipeline, adamw{.lr = 1e-2, .clip_norm = 0.05});
  run_test::options_of<Model, decltype(pipeline)> o;
  o.global_batch = global;
  o.micro_batch = micro;
  o.eval = numbers(3);
  one.fit(numbers(examples), o);
  return {run_test::whole_state(one.states()), predictor(one).predict(numbers(7), 3)};
}

template <class Model>
void check_fits(std::int64_t examples, std::int64_t global, std::int64_t micro, bool overlap = false) {
  result const expected = fitted<Model>({.dp = 1}, examples, global, micro);
  REQUIRE(expected.predictions.size() == 7);
  for (mesh const& on : meshes) {
    INFO("ep " << on.ep << " dp " << on.dp << " tp " << on.tp << " micro-batch " << micro);
    result const found = fitted<Model>(on, examples, global, micro, overlap);
    CHECK(found.predictions == expected.predictions);
    REQUIRE(found.state.size() == expected.state.size());
    for (auto const& [name, value] : expected.state) {
      INFO(name);
      CHECK((found.state.at(name) - value).abs().max().item<double>() < 1e-9);
    }
  }
}

}  // namespace experts_test

using namespace experts_test;

TEST_CASE("a fit with experts over ep trains, evaluates and predicts as on one rank, at uneven batches") {
  check_fits<balanced>(13, 5, 0);
  check_fits<balanced>(13, 5, 1);
  check_fits<descended>(7, 4, 1);
  // Buckets of gradients are sent during backward, except in steps with uneven micro-batches.
  check_fits<descended>(15, 8, 1, true);
}

TEST_CASE("verify passes for experts on every mesh") {
  auto const pipeline = continuing();
  for (mesh const& on :
       {mesh{.ep = 2}, mesh{.dp = 2, .ep = 2}, mesh{.ep = 2, .tp = 2}, mesh{.dp = 2, .ep = 2, .tp = 2}}) {
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
