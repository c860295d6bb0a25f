#pragma once

#include "timed_task.hpp"

#include <redco/run/trained_network.hpp>
#include <redco/run/training_step.hpp>

#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>

#include <redco/tensor/device.hpp>
#include <redco/tensor/device_streams.hpp>

#include <redco/text/batches.hpp>

#include <redco/cost/cost_of.hpp>

#include <redco/model/gpt2.hpp>

#include <redco/optimizer/optimizers.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace calibration {

constexpr std::array dtypes = {redco::dtype::f32, redco::dtype::bf16};

/// A small model and the settings of its training step.
struct sample {
  redco::models::gpt2_config config;
  redco::cost::setup run;
};

/// Returns the factor by which sizes grow for a measurement: 1 on a CPU, `times` on a device, which
/// needs larger work to be busy.
inline std::int64_t larger(redco::tensors::device_choice const& devices, std::int64_t times) {
  return devices.of_rank(0) == redco::tensors::cpu_device() ? 1 : times;
}

inline std::function<void()> step_of(sample const& s, redco::rank_context& rank,
                                     redco::tensors::device_choice const& devices) {
  redco::gpt2 const model{s.config};
  at::Device const device = devices.of_rank(rank.rank);
  auto const state = std::make_shared<redco::run::trained_network<redco::gpt2>>(
      model, redco::plan_of(model, s.run.mesh), redco::adamw{.lr = 1e-4}, s.run.compute, 42, rank.rank,
      std::vector<std::string>{}, device);
  auto const length = s.run.load.sequence;
  auto const ids =
      (at::arange(s.run.load.batch * (length + 1)) * 7919).remainder(s.config.vocab).view({-1, length + 1});
  redco::token_batch const batch{ids.narrow(1, 0, length).contiguous().to(device),
                                 ids.narrow(1, 1, length).contiguous().to(device)};
  return [=, &rank, step = std::int64_t{0}]() mutable {
    redco::run::training_step one(*state, rank);
    for (std::int64_t i = 0; i < s.run.micro_batches; ++i) {
      redco::pass const in = redco::nn::training_pass(rank).with_examples(0, s.run.load.batch);
      redco::bound_network<redco::gpt2> const net(state->net, in);
      one.add(redco::cross_entropy(net(batch.input_ids), batch.labels));
    }
    one.finish(step++, 1'000, false);
    redco::tensors::settle(device);
  };
}

/// Bytes of an all-reduce on a CPU, and number of all-reduces in one timed call. All groups of
/// model shards run them concurrently.
constexpr std::int64_t payload = 1 << 20, reductions = 8;

inline std::function<void()> reductions_of(redco::rank_context& rank, redco::tensors::device_choice const& devices,
                                           std::int64_t bytes = payload) {
  at::Device const device = devices.of_rank(rank.rank);
  return [&rank, device, x = at::zeros({bytes / 4}, device)] {
    for (std::int64_t i = 0; i < reductions; ++i) rank.tp.all_reduce(x);
    redco::tensors::settle(device);
  };
}

/// Returns small models on a mesh: wide and narrow, with long and short sequences, in one and in
/// several micro-batches.
inline std::vector<sample> samples(redco::mesh const& on, redco::dtype compute, std::int64_t times, int hosts = 1) {
  std::vector<sample> all;
  auto const add = [&](redco::models::gpt2_config const& config, bool one_at_once) {
    std::int64_t const share = std::max(1, 8 / on.dp), at_once = one_at_once ? 1 : share;
    redco::cost::setup const run{.mesh = on,
                                 .load = {at_once, config.context},
                                 .compute = compute,
                                 .micro_batches = share / at_once,
                                 .hosts = hosts};
    all.push_back({config, run});
  };
  auto const model = [times](std::int64_t context, std::int64_t width, std::int64_t layers) {
    return redco::models::gpt2_config{.vocab = 256 * times,
                                      .context = context * (times > 1 ? 4 : 1),
                                      .width = width * times,
                                      .heads = 4 * times,
                                      .layers = layers};
  };
  add(model(128, 192, 2), false);
  add(model(128, 192, 2), true);
  add(model(64, 320, 1), true);
  add(model(256, 96, 2), false);
  return all;
}

struct step_task {
  sample settings;
  task timing;
};

/// Appends the timed steps of all sample models to `to`.
inline void add_steps(std::vector<step_task>& to, redco::tensors::device_choice const& devices, redco::mesh const& on,
                      redco::dtype compute, int hosts = 1) {
  for (sample const& one : samples(on, compute, larger(devices, 8), hosts))
    to.push_back({one, {on, [one, devices](auto& rank) { return step_of(one, rank, devices); }}});
}

inline redco::cost::rank_cost cost_of(sample const& s) {
  return redco::cost::cost_of(redco::gpt2{s.config}, redco::adamw{}, s.run);
}

}  // namespace calibration
