#include "training.hpp"

#include "parity/reference.hpp"
#include "test_files.hpp"

#include <redco/run/predictor.hpp>
#include <redco/run/trainer.hpp>
#include <redco/text/batches.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/pretrained/stored_names/gpt.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/data/sampler.hpp>
#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/pipeline/functions.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

// Compares whole runs with those that transformers and torch recorded: see
// tests/run/make_training.py.
namespace training_numbers {

using doubles = std::vector<double>;
using texts = std::vector<std::string>;

redco::models::gpt2_config const sizes{.vocab = 127, .context = 16, .width = 20, .heads = 2, .layers = 2, .inner = 36};
redco::mesh const meshes[] = {{.dp = 1}, {.dp = 2}, {.tp = 2}};

std::filesystem::path recorded() { return test_files() / "training"; }

auto lm() {
  return redco::collate(
             [](std::span<std::string const> some) { return redco::next_token_batch(some, sizes.context); }) |
         redco::loss([](auto const& net, redco::token_batch const& b) {
           return redco::cross_entropy(net(b.input_ids), b.labels);
         }) |
         redco::predict([](auto const& net, redco::token_batch const& b) {
           at::Tensor const logit = net(b.input_ids).tensor().select(1, 1).select(1, 'e').to(at::kDouble).contiguous();
           return doubles(logit.const_data_ptr<double>(), logit.const_data_ptr<double>() + logit.numel());
         });
}

/// Arranges the texts so that the sampler visits them in the recorded order.
texts visited_in(texts const& all, std::vector<std::size_t> const& order, std::uint64_t seed, int epoch) {
  redco::data::sampler const shuffled(std::ssize(all), seed);
  texts arranged(all.size());
  for (std::size_t position = 0; position < all.size(); ++position)
    arranged[static_cast<std::size_t>(shuffled.at(epoch, static_cast<std::int64_t>(position)))] = all[order[position]];
  return arranged;
}

/// The largest differences that rounding may cause. The runs are chaotic: a wrong rule causes
/// differences a thousand times larger.
struct bounds {
  double numbers, parameters;
};
bounds bounds_of(redco::dtype type) { return type == redco::dtype::f64 ? bounds{1e-9, 1e-9} : bounds{2e-5, 2e-5}; }

void check_close(char const* name, doubles const& found, doubles const& wanted, double bound) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    INFO(name << " " << i + 1 << ": " << found[i] << ", recorded " << wanted[i]);
    CHECK(std::abs(found[i] - wanted[i]) <= bound * std::max(1.0, std::abs(wanted[i])));
  }
}

void check_parameters(std::filesystem::path const& saved, std::filesystem::path const& wanted, double bound) {
  auto const found = parity::read_all(saved / "model.safetensors");
  auto const all = parity::read_all(wanted);
  REQUIRE(found.size() == all.size());
  for (auto const& [name, value] : all) {
    INFO(name);
    REQUIRE(found.contains(name));
    CHECK((found.at(name).to(at::kDouble) - value).abs().max().item<double>() <= bound);
  }
}

redco::deployer_options options_in(std::filesystem::path const& workdir, redco::mesh const& on, redco::dtype type) {
  redco::deployer_options o = run_test::in(workdir, on);
  o.dtype = type;
  return o;
}

template <class Optimizer>
void check_run(Optimizer const& optimizer) {
  redco::json::json_value const expected = redco::json::read_json(recorded() / "expected.json");
  std::string const name(Optimizer::name);
  redco::json::json_value const& run = expected["runs"][name];
  auto const all = expected["texts"].get<texts>();
  for (redco::dtype const type : {redco::dtype::f64, redco::dtype::f32}) {
    for (redco::mesh const& on : meshes) {
      INFO(name << " on " << on.dp << "x" << on.tp << (type == redco::dtype::f64 ? " in f64" : " in f32"));
      run_test::silence const quiet;
      temporary_folder const folder;
      redco::deployer deployer(options_in(folder.path / "run", on, type));
      redco::trainer trainer(deployer, redco::gpt2{sizes}, lm(), optimizer);
      trainer.start_from(recorded() / "model");
      doubles losses, rates, norms, evaluations;
      trainer.fit(all, {.epochs = 4,
                        .global_batch = 7,
                        .micro_batch = 2,
                        .train_of_epoch =
                            [&](int epoch) {
                              auto const order = expected["order"][static_cast<std::size_t>(epoch)];
                              return redco::examples<std::string>(visited_in(all, order.get<std::vector<std::size_t>>(),
                                                                             deployer.options().seed, epoch));
                            },
                        .eval = expected["held_out"].get<texts>(),
                        .save_last = false,
                        .save_argmin = {},
                        .on_step =
                            [&](redco::fit_event const& e) {
                              losses.push_back(e.loss);
                              rates.push_back(e.lr);
                              norms.push_back(e.grad_norm);
                            },
                        .on_epoch = [&](redco::fit_event const& e) { evaluations.push_back(e.metrics.at("loss")); }});
      auto const [numbers, parameters] = bounds_of(type);
      check_close("learning rate", rates, run["lr"].get<doubles>(), 1e-14);
      check_close("loss", losses, run["loss"].get<doubles>(), numbers);
      check_close("gradient norm", norms, run["grad_norm"].get<doubles>(), numbers);
      check_close("evaluation", evaluations, run["evaluation"].get<doubles>(), numbers);
      trainer.save_model(folder.path / "model");
      check_parameters(folder.path / "model", recorded() / (name + ".safetensors"), parameters);
    }
  }
}

redco::adamw const run_of_adamw{.lr = redco::cosine{.peak = 4e-3, .warmup = 3},
                                .beta1 = 0.9,
                                .beta2 = 0.99,
                                .eps = 1e-4,
                                .weight_decay = 0.1,
                                .clip_norm = 1.45};

TEST_CASE("a run with AdamW gives the numbers of transformers and torch") { check_run(run_of_adamw); }

TEST_CASE("a run with SGD gives the numbers of transformers and torch") {
  check_run(redco::sgd{.lr = redco::linear_decay{.peak = 0.2, .warmup = 4},
                       .momentum = 0.8,
                       .nesterov = true,
                       .weight_decay = 0.05,
                       .clip_norm = 1.6});
}

TEST_CASE("evaluation and prediction apply no dropout and give the numbers of transformers") {
  redco::json::json_value const expected = redco::json::read_json(recorded() / "expected.json");
  auto const held_out = expected["held_out"].get<texts>();
  redco::gpt2 model{sizes};
  model.config.dropout = 0.4;
  for (redco::mesh const& on : meshes) {
    INFO(on.dp << "x" << on.tp);
    run_test::silence const quiet;
    temporary_folder const folder;
    redco::deployer deployer(options_in(folder.path, on, redco::dtype::f64));
    redco::trainer trainer(deployer, model, lm(), run_of_adamw);
    trainer.start_from(recorded() / "model");
    doubles predicted;
    auto const result = trainer.fit(held_out, {.epochs = 0,
                                               .micro_batch = 2,
                                               .eval = held_out,
                                               .metrics =
                                                   [&](std::span<std::string const>, std::span<double const> outputs) {
                                                     predicted.assign(outputs.begin(), outputs.end());
                                                     return redco::options::metric_map{};
                                                   },
                                               .save_last = false});
    check_close("evaluation", {result.evaluation.at("loss")}, {expected["evaluated"].get<double>()}, 1e-12);
    check_close("prediction", predicted, expected["predicted"].get<doubles>(), 1e-12);
    check_close("prediction", redco::predictor(trainer).predict(held_out, 4), expected["predicted"].get<doubles>(),
                1e-12);
  }
}

}  // namespace training_numbers
