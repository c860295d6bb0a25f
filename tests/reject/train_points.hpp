#pragma once

// What the reject tests of whole programs end with: `job` is trained, evaluated by a metric and asked for predictions in several ways.
#include "points.hpp"

int main() {
  std::vector<double> const xs{-1, 0, 2};
  redco::model_of<redco::sequential<redco::linear<1, 8>, redco::relu, redco::linear<8, 1>>> const model;
  redco::deployer deployer({});
  redco::trainer trainer(deployer, model, job, redco::adamw{.lr = 1e-2});
  std::cout << trainer.report({.batch = 2}) << '\n';
  auto const result = trainer.fit(xs, {.epochs = 2,
                                       .global_batch = 2,
                                       .eval = xs,
                                       .metrics =
                                           [](std::span<double const> given, std::span<at::Tensor const> found) {
                                             return redco::metric_map{{"error", found[0].item<double>() - given[0]}};
                                           },
                                       .save_argmin = {"error"},
                                       .on_step = [](redco::fit_event const& e) { std::cout << e.loss << '\n'; }});
  for (auto const& y : redco::predictor(trainer).predict(xs)) std::cout << y << '\n';
  auto const ys = redco::predictor(trainer).predict(xs, 4);
  if (ys.size() > 0) std::cout << ys[0];
  std::vector<at::Tensor> const kept = redco::predictor(trainer).predict(xs);
  std::cout << kept.size() << result.evaluation.at("loss") << '\n';
}
