#pragma once

// The end of reject tests that are whole programs. It trains a model of `network` with `job`,
// evaluates metrics, predicts in several ways, loads the model again and scores its predictions.
#include "points.hpp"

struct program_options {
  redco::deployer_options deployer;
  int epochs = 2;

  static constexpr auto fields() {
    return redco::fields(redco::field<"deployer">(&program_options::deployer, "where to run"),
                         redco::field<"epochs">(&program_options::epochs, "passes over the points"));
  }
};

int main(int argc, char** argv) {
  return redco::main_of<program_options>(argc, argv, [](program_options const& o) {
    std::vector<double> const xs{-1, 0, 2};
    std::vector<std::int64_t> const truth{0, 0, 1};
    redco::model_of<network> const model;
    redco::deployer deployer(o.deployer);
    redco::trainer trainer(deployer, model, job, redco::adamw{.lr = 1e-2});
    std::cout << trainer.report({.batch = 2}) << '\n';
    auto const result =
        trainer.fit(xs, {.epochs = o.epochs,
                         .global_batch = 2,
                         .eval = xs,
                         .metrics =
                             [](std::span<double const> inputs, std::span<std::int64_t const> found) {
                               std::vector<std::int64_t> wanted;
                               for (double const x : inputs) wanted.push_back(3 * x > 1);
                               return redco::options::metric_map{
                                   {"accuracy", redco::metrics::accuracy(found, wanted)},
                                   {"f1", redco::metrics::f1_score(found, wanted, redco::metrics::f1_average::macro)}};
                             },
                         .save_argmax = {"accuracy"},
                         .on_step = [](redco::fit_event const& e) { std::cout << e.loss << '\n'; }});
    std::cout << result.evaluation.at("loss") << '\n';
    for (auto const& y : redco::predictor(trainer).predict(xs)) std::cout << y + 1 << '\n';
    std::vector<std::int64_t> const kept = redco::predictor(trainer).predict(xs, 4);
    redco::inference const loaded(deployer, model, job, deployer.workdir() / "ckpts" / "last");
    auto const said = redco::predictor(loaded).predict(xs, 4);
    if (!said.empty() && said.size() == xs.size() && said[0] == said.back()) std::cout << said[0] << kept.size();
    std::cout << "right: " << redco::metrics::accuracy(said, truth) * 100 << '\n'
              << redco::metrics::f1_score(said, truth, redco::metrics::f1_average::binary)
              << redco::metrics::mean_absolute_error(said, truth) << '\n';
    if (redco::metrics::accuracy(said, truth) < 0.5)
      throw redco::error(redco::exit_code::data, std::to_string(said[0]));
    return said[0] == 0 ? 0 : 1;
  });
}
