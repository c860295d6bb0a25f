#pragma once

// The beginning of reject tests that are whole programs: points on a line, their batch, the
// functions of a pipeline, and a network.
#include <redco/run/main_of.hpp>
#include <redco/run/predictor.hpp>
#include <redco/run/trainer.hpp>
#include <redco/nn/nn.hpp>
#include <redco/model/model.hpp>
#include <redco/options/deployer_options.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/pipeline/functions.hpp>
#include <redco/metrics/scores.hpp>

#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <vector>

struct point_batch {
  at::Tensor x, y;
};
struct image_batch {
  std::vector<float> pixels;
};

inline auto const points = [](std::span<double const> xs) {
  at::Tensor const x = at::tensor(std::vector<double>(xs.begin(), xs.end())).unsqueeze(1);
  return point_batch{x, 3 * x - 1};
};
inline auto const distance = [](auto const& net, point_batch const& b) { return (net(b.x) - b.y).square().mean(); };
inline auto const signs = [](auto const& net, point_batch const& b) {
  at::Tensor const above = net(b.x).squeeze(1).gt(0).to(at::kLong);
  return std::vector<std::int64_t>(above.const_data_ptr<std::int64_t>(),
                                   above.const_data_ptr<std::int64_t>() + above.numel());
};

using two_layers = redco::sequential<redco::linear<1, 8>, redco::relu, redco::linear<8, 1>>;
