#pragma once

#include <redco/ckpt/manifest.hpp>
#include <redco/comm/group.hpp>
#include <redco/json/value.hpp>
#include <redco/run/examples.hpp>
#include <redco/run/fit_options.hpp>
#include <redco/run/json_of.hpp>
#include <redco/run/results_file.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace redco {

/// What a fit leaves behind for the caller and for the end summary. Rank 0 writes it while the ranks run; the slots of
/// predictions are shared by all of them.
template <class Output>
class fit_report {
 public:
  explicit fit_report(int ranks) : peak_bytes(static_cast<std::size_t>(ranks), 0), run(new_run_id()) {}

  /// The step (counted from 0) in which memory is measured: the third.
  static constexpr std::int64_t measured_step = 2;

  std::vector<std::int64_t> peak_bytes;  ///< tensor bytes of each rank at the peak of that step; 0: not reached
  std::string run;                       ///< one id for a run and all its resumptions
  std::int64_t first_step = 0, step = 0, steps = 0;
  int epoch = 0;
  double loss = 0, tokens_per_second = 0;
  metric_map evaluation;
  std::map<std::string, manifest::best_value> best;
  std::filesystem::path checkpoint;

  void started(std::int64_t after_step) { first_step = step = after_step; }

  void after_step(fit_event const& e, double rate) {
    step = e.step;
    epoch = e.epoch;
    loss = e.loss;
    tokens_per_second = rate;
  }

  /// Notes a save; the metrics of the best checkpoints become min_metrics.json and max_metrics.json.
  void saved(std::filesystem::path const& path, std::map<std::string, manifest::best_value> const& table,
             std::filesystem::path const& workdir) {
    checkpoint = path;
    best = table;
    for (std::string const side : {"min", "max"}) {
      json_value values = json_value::object();
      for (auto const& [name, value] : table)
        if (name.starts_with(side + "_")) values[name.substr(4)] = value.value;
      if (!values.empty()) write_results(workdir / (side + "_metrics.json"), values);
    }
  }

  /// One slot per example, made by rank 0, for all ranks to fill.
  std::vector<std::optional<Output>>& slots(std::int64_t size, group& world) {
    if (world.rank() == 0) slots_.assign(static_cast<std::size_t>(size), std::nullopt);
    world.barrier();
    return slots_;
  }

  /// The user's metrics of the predictions, computed by rank 0 and told to all.
  template <class Options>
  metric_map judged(Options const& options, group& world) {
    if (world.rank() == 0) {
      judged_.clear();
      if (options.metrics) {
        std::vector<Output> outputs;
        for (auto const& slot : slots_) outputs.push_back(slot.value());
        auto const all = every(options.eval);
        judged_ = options.metrics(all, outputs);
      }
    }
    world.barrier();
    return judged_;
  }

  /// [{"example": ..., "output": ...}, ...]
  template <class Options>
  json_value outputs_json(Options const& options) const {
    json_value list = json_value::array();
    auto const all = every(options.eval);
    for (std::size_t i = 0; i < all.size(); ++i)
      list.push_back({{"example", json_of(all[i])}, {"output", json_of(slots_[i].value())}});
    return list;
  }

 private:
  template <class Example>
  static std::vector<Example> every(examples<Example> const& data) {
    std::vector<std::int64_t> indices(static_cast<std::size_t>(data.size()));
    std::iota(indices.begin(), indices.end(), 0);
    return data[indices];
  }

  static std::string new_run_id() {
    std::random_device entropy;
    std::string id;
    for (int word = 0; word < 4; ++word) {
      std::uint32_t bits = entropy();
      for (int digit = 0; digit < 8; ++digit, bits >>= 4) id += "0123456789abcdef"[bits & 15];
      if (word < 3) id += '-';
    }
    return id;
  }

  std::vector<std::optional<Output>> slots_;
  metric_map judged_;
};

}  // namespace redco
