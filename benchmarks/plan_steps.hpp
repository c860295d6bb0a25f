#pragma once

#include <redco/run/trainer.hpp>
#include <redco/text/batches.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/cost/search.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/pipeline/functions.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <span>
#include <vector>

// Model, global batch and measurement of the plans whose step times search.cpp and hosts.cpp
// compare.
namespace plan_steps {

constexpr int warm_up = 2, steps = 4;

inline redco::gpt2 const model{{.vocab = 512, .context = 128, .width = 256, .heads = 4, .layers = 2}};
inline redco::workload const load{16, 128};

inline redco::token_batch batch_of(std::int64_t examples) {
  auto const ids = (at::arange(examples * (load.sequence + 1)) * 7919).remainder(model.config.vocab);
  auto const table = ids.view({examples, load.sequence + 1});
  return {table.narrow(1, 0, load.sequence).contiguous(), table.narrow(1, 1, load.sequence).contiguous()};
}

/// Returns the seconds of each step after the warm-up, in the process that has rank 0. All
/// processes must pass the same folder.
template <class Model>
std::vector<double> seconds_of(redco::cost::found_plan const& plan, Model const& trained,
                               std::filesystem::path const& folder) {
  using clock = std::chrono::steady_clock;
  redco::deployer_options where;
  where.mesh = plan.run.mesh;
  where.dtype = plan.run.compute;
  where.recompute = plan.run.recompute;
  where.workdir = folder;
  where.resume = "none";
  where.quiet = true;
  redco::deployer deployer(where);
  auto const pipeline = redco::collate([](std::span<int const> some) { return batch_of(std::ssize(some)); }) |
                        redco::loss([](auto const& net, redco::token_batch const& b) {
                          return redco::cross_entropy(net(b.input_ids), b.labels);
                        });
  redco::trainer trainer(deployer, trained, pipeline, redco::adamw{.lr = 1e-4});
  std::vector<int> examples(static_cast<std::size_t>((warm_up + steps) * load.batch));
  std::iota(examples.begin(), examples.end(), 0);
  std::vector<double> seconds;
  auto last = clock::now();
  trainer.fit(examples, {.global_batch = load.batch,
                         .micro_batch = plan.run.load.batch,
                         .save_last = false,
                         .save_argmin = {},
                         .on_step = [&](redco::fit_event const& e) {
                           auto const now = clock::now();
                           if (e.step > warm_up) seconds.push_back(std::chrono::duration<double>(now - last).count());
                           last = now;
                         }});
  return seconds;
}

inline std::vector<double> seconds_of(redco::cost::found_plan const& plan, std::filesystem::path const& folder) {
  if (plan.sequence_parallel)
    return seconds_of(plan, redco::models::sequence_parallel<redco::gpt2>{model.config}, folder);
  return seconds_of(plan, model, folder);
}

}  // namespace plan_steps
