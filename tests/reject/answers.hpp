#pragma once

// Shared by reject tests whose predictions are structs: one prediction, and a program that reads
// its members.
#include "points.hpp"

struct answer {
  std::int64_t sign;
  double size;
};
inline std::vector<answer> answers(at::Tensor const& y) {
  std::vector<answer> all;
  for (std::int64_t i = 0; i < y.size(0); ++i) {
    double const one = y[i].item<double>();
    all.push_back({one > 0, one});
  }
  return all;
}

template <class Job>
int train_answers(int argc, char** argv, Job const& job) {
  return redco::main_of<redco::deployer_options>(argc, argv, [&](redco::deployer_options const& o) {
    std::vector<double> const xs{-1, 0, 2};
    redco::deployer deployer(o);
    redco::trainer trainer(deployer, redco::model_of<two_layers>(), job, redco::adamw{.lr = 1e-2});
    trainer.fit(xs, {.eval = xs, .metrics = [](std::span<double const> inputs, std::span<answer const> found) {
                       double size = 0;
                       for (answer const& one : found) size += one.size;
                       return redco::options::metric_map{{"size", size / static_cast<double>(inputs.size())}};
                     }});
    for (auto const& one : redco::predictor(trainer).predict(xs)) std::cout << one.sign << ' ' << one.size << '\n';
    auto const all = redco::predictor(trainer).predict(xs, 4);
    return all[0].sign == 1 ? 0 : 1;
  });
}
