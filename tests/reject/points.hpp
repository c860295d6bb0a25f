#pragma once

// What the reject tests of whole programs begin with: points on a line, their batch and the functions of a pipeline.
#include <redco/run/predictor.hpp>
#include <redco/run/trainer.hpp>
#include <redco/nn/nn.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/relu.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/optimizer/adamw.hpp>
#include <redco/pipeline/collate.hpp>
#include <redco/pipeline/loss.hpp>
#include <redco/pipeline/pipe.hpp>
#include <redco/pipeline/predict.hpp>

#include <iostream>
#include <span>
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
inline auto const heights = [](auto const& net, point_batch const& b) { return net(b.x).squeeze(1); };
