#pragma once

#include "language.hpp"

#include <redco/run/predictor.hpp>
#include <redco/generate/generate.hpp>
#include <redco/options/value_text.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/experts.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/wrappers.hpp>

#include <cstdint>
#include <string>
#include <vector>

// Fits of a language model with experts, on meshes whose ranks have different numbers of
// micro-batches and of decoding steps.

namespace experts_test {

using namespace redco;
using redco::layers::moe, redco::layers::experts, redco::layers::top, redco::layers::real;
namespace dispatch = redco::layers::dispatch;
namespace routing = redco::layers::routing;
using run_test::in;
using run_test::numbers;

/// A small decoder with `Blocks` blocks, whose feed-forward layers are experts.
template <std::int64_t Blocks, class Layer>
struct decoder_of {
  static constexpr std::int64_t width = 12;
  using attention = causal_attention<width, 2, redco::layers::rotary<>>;
  using block = sequential<residual<sequential<named<"norm_1", rms_norm<width>>, named<"attn", attention>>>,
                           residual<sequential<named<"norm_2", rms_norm<width>>, named<"mlp", Layer>>>>;
  using net = sequential<named<"wte", embedding<11, width>>, named<"h", repeat<Blocks, block>>,
                         named<"norm", rms_norm<width>>, named<"head", redco::layers::language_head<11, width>>>;
  no_config config;
};

using balanced_layer = moe<experts<4, 12, 8>, top<2>, dispatch::cdac, routing::auxiliary_loss<real{0.02}>,
                           routing::balanced_by_bias<real{0.01}>>;
using balanced = decoder_of<2, balanced_layer>;
using auxiliary = decoder_of<
    2, moe<experts<4, 12, 8>, top<2>, dispatch::cdac, routing::auxiliary_loss<real{0.02}>, routing::normalised<>>>;
using descended = decoder_of<2, moe<experts<4, 12, 12>, top<2>, dispatch::dcca<real{0.5}>>>;

inline std::string name_of(mesh const& on) { return options::to_text(on); }

/// Returns options of a deployer on `on` in f64, with level `zero` of ZeRO.
inline deployer_options on_mesh(mesh const& on, int zero = 0) {
  deployer_options where = in({}, on);
  where.zero = zero;
  return where;
}

/// A language task whose prediction continues each example until token 3, by at most six tokens.
inline auto continuing() {
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
  run_test::tensors state;  ///< parameters and optimizer state
  std::vector<double> losses, norms;
  std::vector<std::int64_t> predictions;
  std::string log;
};

/// Trains on `examples` examples, evaluates, and predicts. `where`: its workdir is ignored.
template <class Model, class Optimizer = adamw>
result fitted(deployer_options where, std::int64_t examples, std::int64_t global, std::int64_t micro,
              Optimizer const& optimizer = {.lr = 1e-2, .clip_norm = 0.05}) {
  temporary_folder const folder;
  run_test::silence const quiet;
  auto const pipeline = continuing();
  where.workdir = folder.path;
  deployer deployer(where);
  trainer one(deployer, Model{}, pipeline, optimizer);
  run_test::options_of<Model, decltype(pipeline)> o;
  o.global_batch = global;
  o.micro_batch = micro;
  o.eval = numbers(3);
  result found;
  o.on_step = [&](fit_event const& e) {
    found.losses.push_back(e.loss);
    found.norms.push_back(e.grad_norm);
  };
  one.fit(numbers(examples), o);
  found.state = run_test::whole_state(one.states());
  found.predictions = predictor(one).predict(numbers(7), 3);
  found.log = quiet.text.str();
  return found;
}

/// Checks losses, norms before clipping, parameters, optimizer state and predictions.
inline void check_equal(result const& found, result const& expected) {
  CHECK(found.predictions == expected.predictions);
  CHECK(run_test::difference(expected.losses, found.losses) < 1e-10);
  CHECK(run_test::difference(expected.norms, found.norms) < 1e-10);
  REQUIRE(found.state.size() == expected.state.size());
  for (auto const& [name, value] : expected.state) {
    INFO(name);
    REQUIRE(found.state.contains(name));
    CHECK((found.state.at(name) - value).abs().max().item<double>() < 1e-9);
  }
}

}  // namespace experts_test
