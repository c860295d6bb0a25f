#pragma once

#include <redco/meta/enum_texts.hpp>
#include <redco/schedule/pipeline_table.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace redco::schedule {

/// A fault in the table of a pipeline: its kind, the stage, and the index of the computation in the
/// stage's list.
struct pipeline_fault {
  enum class kind : std::uint8_t {
    none,
    /// Fault: a stage computes a chunk of another stage, or a micro-batch out of range.
    other_stage,
    /// Fault: a computation occurs twice, or B and I of one micro-batch both occur.
    repeated,
    /// Fault: a gradient precedes its forward, or a weight gradient its input gradient.
    too_early,
    missing,  ///< Fault: a forward, backward or weight gradient of a micro-batch is missing
    /// Fault: the input of a computation never comes, because stages wait in a circle.
    waits_forever,
  };

  kind cause = kind::none;
  int stage = -1;
  std::size_t index = 0;  ///< Size of the stage's list if a computation is missing

  constexpr explicit operator bool() const { return cause != kind::none; }
  friend constexpr bool operator==(pipeline_fault const&, pipeline_fault const&) = default;
};

inline constexpr auto pipeline_fault_texts = meta::enum_texts<pipeline_fault::kind>({
    {pipeline_fault::kind::none, "is sound"},
    {pipeline_fault::kind::other_stage, "belongs to another stage or to no micro-batch"},
    {pipeline_fault::kind::repeated, "is repeated"},
    {pipeline_fault::kind::too_early, "comes before the computation that it needs on its stage"},
    {pipeline_fault::kind::missing, "is missing"},
    {pipeline_fault::kind::waits_forever, "waits forever for another stage"},
});

/// Returns a computation in PyTorch's notation, such as "2F0": chunk 2, forward, micro-batch 0.
inline std::string text_of(stage_op const& one) {
  return std::to_string(one.chunk) + std::string(stage_work_texts.text_of(one.work)) + std::to_string(one.micro);
}

/// Durations of the computations of a chunk, in a unit of the caller, such as nanoseconds. A
/// `backward` takes `input_gradients + weight_gradients`.
struct chunk_times {
  std::int64_t forward = 1, input_gradients = 1, weight_gradients = 1;
  std::int64_t transfer = 0;  ///< Duration of a transfer of the chunk's results to another stage

  constexpr std::int64_t of(stage_work work) const {
    switch (work) {
      case stage_work::forward: return forward;
      case stage_work::input_gradients: return input_gradients;
      case stage_work::weight_gradients: return weight_gradients;
      default: return input_gradients + weight_gradients;
    }
  }
};

/// The course of an optimizer step of a pipeline, computed by simulate().
struct pipeline_run {
  /// First fault of the table. The other members describe the run up to the fault.
  pipeline_fault fault;
  /// Start and duration of each computation, indexed as pipeline_table::of_stage
  std::vector<std::vector<std::int64_t>> starts, durations;
  std::int64_t makespan = 0;  ///< End of the last computation
  std::int64_t busy = 0;      ///< Sum of the durations of the computations of all stages
  /// Largest number of forwards of each stage that wait for the end of their last gradient, counted
  /// over all chunks of the stage
  std::vector<int> in_flight;

  /// Share of the stages' time in which they wait, from 0 to 1.
  constexpr double idle() const {
    auto const all = static_cast<double>(makespan) * static_cast<double>(in_flight.size());
    return all > 0 ? 1 - static_cast<double>(busy) / all : 0;
  }
};

}  // namespace redco::schedule

namespace redco::schedule::detail {

/// Executes the lists of all stages. A computation starts as soon as the previous one of its stage
/// has ended and its input has arrived. A send costs its stage no time.
class pipeline_simulation {
 public:
  constexpr pipeline_simulation(pipeline_table const& table, std::vector<chunk_times> const& times)
      : table_(table),
        times_(times),
        last_(static_cast<int>(table.chunks()) - 1),
        forward_(table.chunks() * static_cast<std::size_t>(table.micro_batches), never),
        inputs_(forward_),
        weights_(forward_),
        clock_(table.stages(), 0),
        held_(table.stages(), 0) {
    run_.in_flight.assign(table.stages(), 0);
    for (auto const& list : table.of_stage) {
      run_.starts.emplace_back().reserve(list.size());
      run_.durations.emplace_back().reserve(list.size());
    }
  }

  constexpr pipeline_run run() {
    // Sweeps in both directions, because forwards go up and gradients go down the stages.
    bool up = true;
    for (bool moved = true; moved && !run_.fault; up = !up) {
      moved = false;
      for (std::size_t i = 0; i < table_.stages(); ++i)
        while (!run_.fault && advance(up ? i : table_.stages() - 1 - i)) moved = true;
    }
    for (std::size_t stage = 0; stage < table_.stages() && !run_.fault; ++stage) {
      run_.makespan = std::max(run_.makespan, clock_[stage]);
      if (at(stage) < table_.of_stage[stage].size()) fail(pipeline_fault::kind::waits_forever, stage);
    }
    for (std::size_t i = 0; i < weights_.size() && !run_.fault; ++i)
      if (weights_[i] == never)
        fail(pipeline_fault::kind::missing,
             static_cast<std::size_t>(table_.stage_of[i / static_cast<std::size_t>(table_.micro_batches)]));
    return std::move(run_);
  }

 private:
  static constexpr std::int64_t never = -1;

  constexpr std::size_t at(std::size_t stage) const { return run_.starts[stage].size(); }
  constexpr bool fail(pipeline_fault::kind cause, std::size_t stage) {
    run_.fault = {cause, static_cast<int>(stage), at(stage)};
    return false;
  }

  /// Executes the next computation of `stage`. Returns false if the stage has ended, must wait, or
  /// has a fault.
  constexpr bool advance(std::size_t stage) {
    using kind = pipeline_fault::kind;
    auto const& list = table_.of_stage.data()[stage];
    auto& starts = run_.starts.data()[stage];
    if (starts.size() == list.size()) return false;
    stage_op const& one = list.data()[starts.size()];
    int const* const holder = table_.stage_of.data() + one.chunk;
    auto const own = static_cast<int>(stage);
    if (one.chunk < 0 || one.chunk > last_ || one.micro < 0 || one.micro >= table_.micro_batches || *holder != own)
      return fail(kind::other_stage, stage);

    // Ends of forward, input gradients and weight gradients of this chunk and micro-batch.
    std::ptrdiff_t const i = one.chunk * std::ptrdiff_t{table_.micro_batches} + one.micro;
    std::int64_t *const forward = forward_.data() + i, *const inputs = inputs_.data() + i;
    std::int64_t* const weights = weights_.data() + i;
    std::int64_t const *source = nullptr, *needed = forward;
    std::int64_t* result = inputs;
    int from = one.chunk + 1;
    if (one.work == stage_work::forward) {
      result = forward;
      needed = nullptr;
      from = one.chunk - 1;
      if (one.chunk > 0) source = forward - table_.micro_batches;
    } else if (one.work == stage_work::weight_gradients) {
      result = weights;
      needed = inputs;
    } else if (one.chunk < last_) {
      source = inputs + table_.micro_batches;
    }
    if (*result != never) return fail(kind::repeated, stage);
    if (needed != nullptr && *needed == never) return fail(kind::too_early, stage);
    if (source != nullptr && *source == never) return false;

    chunk_times const* const times = times_.data();
    std::int64_t start = clock_.data()[stage];
    if (source != nullptr)
      start = std::max(start, *source + (table_.stage_of.data()[from] == own ? 0 : times[from].transfer));
    std::int64_t const duration = times[one.chunk].of(one.work);
    starts.push_back(start);
    run_.durations.data()[stage].push_back(duration);
    run_.busy += duration;
    clock_.data()[stage] = *result = start + duration;
    if (one.work == stage_work::backward) *weights = *result;
    int& held = held_.data()[stage];
    if (one.work == stage_work::forward) {
      int& most = run_.in_flight.data()[stage];
      most = std::max(most, ++held);
    } else if (one.work != stage_work::input_gradients) {
      --held;
    }
    return true;
  }

  pipeline_table const& table_;
  std::vector<chunk_times> const& times_;
  int last_;  ///< Index of the last chunk
  /// End of each computation, by chunk and micro-batch
  std::vector<std::int64_t> forward_, inputs_, weights_;
  std::vector<std::int64_t> clock_;
  std::vector<int> held_;
  pipeline_run run_;
};

}  // namespace redco::schedule::detail

namespace redco::schedule {

/// Executes a table in simulated time. `times` has the durations of each chunk. If the result has
/// no fault, every computation occurs once, every input has its sender, and no stages wait for each
/// other in a circle.
constexpr pipeline_run simulate(pipeline_table const& table, std::vector<chunk_times> const& times) {
  return detail::pipeline_simulation(table, times).run();
}

/// Returns the course of a step in which all chunks have the durations `each`.
constexpr pipeline_run simulate(pipeline_table const& table, chunk_times const& each = {}) {
  return simulate(table, std::vector<chunk_times>(table.chunks(), each));
}

}  // namespace redco::schedule
