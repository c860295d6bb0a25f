#pragma once

#include "stages.hpp"

#include <redco/run/fit_result.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/pipeline/functions.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

// Measures the peak of tensor memory in runs whose activations are a large part of it.

namespace peak_test {

/// Trains a language model of at least 120 token ids for three steps, and returns what each rank
/// measured in one of them. A micro-batch has `rows` sequences of `length` tokens.
template <class Model>
std::vector<redco::run::step_measure> measured_steps(Model const& model, redco::deployer_options where,
                                                     std::int64_t rows, std::int64_t length,
                                                     std::int64_t micro_batches) {
  run_test::silence const quiet;
  temporary_folder const folder;
  where.workdir = folder.path;
  redco::deployer deployer(where);
  auto const pipeline =
      redco::collate([length](std::span<std::int64_t const> examples) {
        auto const ids = at::arange(std::ssize(examples) * (length + 1)).remainder(120).view({-1, length + 1});
        return redco::token_batch{ids.narrow(1, 0, length).contiguous(), ids.narrow(1, 1, length).contiguous()};
      }) |
      redco::loss([](auto const& net, redco::token_batch const& b) {
        return redco::cross_entropy(net(b.input_ids), b.labels);
      });
  redco::trainer trainer(deployer, model, pipeline, redco::adamw{.lr = 1e-3});
  run_test::options_of<Model, decltype(pipeline)> o;
  o.max_steps = 3;
  o.global_batch = where.mesh->dp * rows * micro_batches;
  o.micro_batch = rows;
  o.save_last = false;
  o.save_argmin = {};
  return trainer.fit(run_test::numbers(6 * *o.global_batch), o).measures;
}

inline std::int64_t largest_peak(std::vector<redco::run::step_measure> const& of_ranks) {
  std::int64_t most = 0;
  for (redco::run::step_measure const& one : of_ranks) most = std::max(most, one.peak_bytes);
  return most;
}

}  // namespace peak_test
