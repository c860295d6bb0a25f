#pragma once

#include <redco/meta/enum_texts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::schedule {

/// An order in which the stages of a pipeline compute their micro-batches.
enum class pipeline_kind : std::uint8_t {
  gpipe,  ///< All forwards, then all backwards (Huang et al., 2019)
  /// One forward and one backward alternate (PipeDream-Flush, Narayanan et al., 2021)
  one_f_one_b,
  interleaved,  ///< one_f_one_b with several chunks of blocks per stage (Megatron-LM, 2021)
  zb_h1,        ///< Weight gradients fill the idle time at the end (Qi et al., Zero Bubble, 2023)
  v_half,       ///< Two chunks per stage in a V, half the memory of one_f_one_b (Qi et al., 2024)
};

inline constexpr auto pipeline_kind_texts = meta::enum_texts<pipeline_kind>({
    {pipeline_kind::gpipe, "gpipe"},
    {pipeline_kind::one_f_one_b, "1f1b"},
    {pipeline_kind::interleaved, "interleaved"},
    {pipeline_kind::zb_h1, "zb-h1"},
    {pipeline_kind::v_half, "v-half"},
});

/// A kind of computation of a pipeline stage. The texts are PyTorch's letters.
enum class stage_work : std::uint8_t {
  forward,           ///< Forward of a micro-batch through a chunk
  backward,          ///< Gradients of the chunk's inputs and weights together
  input_gradients,   ///< Gradients of the chunk's inputs, which the previous chunk waits for
  weight_gradients,  ///< Gradients of the chunk's weights, after input_gradients
};

inline constexpr auto stage_work_texts = meta::enum_texts<stage_work>({
    {stage_work::forward, "F"},
    {stage_work::backward, "B"},
    {stage_work::input_gradients, "I"},
    {stage_work::weight_gradients, "W"},
});

/// A computation of a pipeline stage: the work, the index of the chunk (consecutive blocks of the
/// model), and the index of the micro-batch.
struct stage_op {
  stage_work work = stage_work::forward;
  std::int32_t chunk = 0;
  std::int32_t micro = 0;

  friend constexpr bool operator==(stage_op const&, stage_op const&) = default;
};

/// A pipeline whose table table_of() computes.
struct pipeline_shape {
  pipeline_kind kind = pipeline_kind::one_f_one_b;
  int stages = 1;
  int micro_batches = 1;
  /// Number of chunks of each stage: at least 2 for interleaved, 2 for v_half, else 1
  int chunks_per_stage = 1;

  constexpr int chunks() const { return stages * chunks_per_stage; }

  /// Returns the stage that computes `chunk`. The stages take turns. For v_half, the second chunks
  /// go back from the last stage to the first, so that one stage has the first and the last chunk.
  constexpr int stage_of(int chunk) const {
    return kind == pipeline_kind::v_half && chunk >= stages ? 2 * stages - 1 - chunk : chunk % stages;
  }

  friend constexpr bool operator==(pipeline_shape const&, pipeline_shape const&) = default;
};

/// Returns the reason why a pipeline has no table, as the end of a sentence, or an empty text if
/// table_of() accepts `of`.
constexpr std::string_view refusal_of(pipeline_shape const& of) {
  if (of.stages < 1) return "needs at least one stage";
  if (of.micro_batches < 1) return "needs at least one micro-batch";
  if (of.kind == pipeline_kind::interleaved) {
    if (of.chunks_per_stage < 2) return "needs at least two chunks per stage";
    // With another number, a stage waits for a chunk that its neighbour computes later.
    if (of.micro_batches % of.stages != 0) return "needs a number of micro-batches that is a multiple of its stages";
  } else if (of.chunks_per_stage != (of.kind == pipeline_kind::v_half ? 2 : 1)) {
    return of.kind == pipeline_kind::v_half ? "needs two chunks per stage" : "needs one chunk per stage";
  }
  return {};
}

/// A table of the computations of all pipeline stages in an optimizer step.
struct pipeline_table {
  int micro_batches = 0;
  std::vector<int> stage_of;                    ///< Stage that computes each chunk
  std::vector<std::vector<stage_op>> of_stage;  ///< Computations in order of execution, per stage

  constexpr std::size_t stages() const { return of_stage.size(); }
  constexpr std::size_t chunks() const { return stage_of.size(); }
};

}  // namespace redco::schedule

namespace redco::schedule::detail {

/// Returns the computations of a stage that runs `warm_up` forwards first and then alternates one
/// backward and one forward. `chunk_at(k, forward)` and `micro_at(k)` give the k-th of `total`
/// forwards or backwards.
template <class Chunk, class Micro>
constexpr std::vector<stage_op> alternating(int total, int warm_up, Chunk const& chunk_at, Micro const& micro_at) {
  std::vector<stage_op> all;
  all.reserve(static_cast<std::size_t>(2 * total));
  for (int k = 0; k < warm_up; ++k) all.push_back({stage_work::forward, chunk_at(k, true), micro_at(k)});
  for (int k = 0; k < total; ++k) {
    if (k + warm_up < total) all.push_back({stage_work::forward, chunk_at(k + warm_up, true), micro_at(k + warm_up)});
    all.push_back({stage_work::backward, chunk_at(k, false), micro_at(k)});
  }
  return all;
}

constexpr std::vector<stage_op> one_f_one_b(int stages, int stage, int micros) {
  return alternating(
      micros, std::min(stages - stage - 1, micros), [stage](int, bool) { return stage; }, [](int k) { return k; });
}

/// Micro-batches advance in groups of `stages`: each chunk of the stage computes the whole group
/// before the next chunk begins.
constexpr std::vector<stage_op> interleaved(pipeline_shape const& of, int stage) {
  int const total = of.micro_batches * of.chunks_per_stage;
  int const warm_up = std::min(2 * (of.stages - stage - 1) + (of.chunks_per_stage - 1) * of.stages, total);
  auto const chunk = [&of, stage](int k, bool forward) {
    int const own = k % of.chunks() / of.stages;
    return (forward ? own : of.chunks_per_stage - 1 - own) * of.stages + stage;
  };
  return alternating(total, warm_up, chunk, [&of](int k) { return k / of.chunks() * of.stages + k % of.stages; });
}

/// The order of one_f_one_b with one forward more in advance; the weight gradients of a micro-batch
/// follow `stage` micro-batches after its input gradients.
constexpr std::vector<stage_op> zb_h1(int stages, int stage, int micros) {
  std::vector<stage_op> all;
  all.reserve(static_cast<std::size_t>(3 * micros));
  int forwards = 0, weights = 0;
  while (forwards < std::min(stages - stage, micros)) all.push_back({stage_work::forward, stage, forwards++});
  for (int k = 0; k < micros; ++k) {
    all.push_back({stage_work::input_gradients, stage, k});
    if (k >= stage) all.push_back({stage_work::weight_gradients, stage, weights++});
    if (forwards < micros) all.push_back({stage_work::forward, stage, forwards++});
  }
  while (weights < micros) all.push_back({stage_work::weight_gradients, stage, weights++});
  return all;
}

/// Runs a V of two chunks per stage with unit times, and records the order of the computations. A
/// free stage prefers its later chunk, then input gradients, forwards, and weight gradients. A
/// chunk has at most (2 * stages - chunk) / 2 + 1 micro-batches in flight. Both chunks of a stage
/// together have at most stages + 2.
class v_half_run {
 public:
  constexpr explicit v_half_run(pipeline_shape const& of)
      : of_(of),
        ended_(static_cast<std::size_t>(of.chunks())),
        starts_(static_cast<std::size_t>(of.stages)),
        table_(static_cast<std::size_t>(of.stages)) {}

  constexpr std::vector<std::vector<stage_op>> run() {
    for (auto& list : table_) list.reserve(static_cast<std::size_t>(6 * of_.micro_batches));
    for (int left = 3 * of_.micro_batches * of_.chunks(); left > 0;) {
      for (int stage = 0; stage < of_.stages; ++stage) starts_.data()[stage] = choice(stage);
      for (int stage = 0; stage < of_.stages; ++stage) left -= end(stage) ? 1 : 0;
    }
    return std::move(table_);
  }

 private:
  struct counts {
    int forwards = 0, inputs = 0, weights = 0;  ///< Computations of a chunk that have ended
  };

  /// Returns the computation that a stage starts in this unit of time, or one without a chunk (-1).
  constexpr stage_op choice(int stage) const {
    int const last = of_.chunks() - 1, own[] = {last - stage, stage};
    for (int const chunk : own) {
      counts const* const now = ended_.data() + chunk;
      if (now->inputs < now->forwards && (chunk == last || now[1].inputs > now->inputs))
        return {stage_work::input_gradients, chunk, now->inputs};
      if (now->forwards < of_.micro_batches && now->forwards - now->weights < (last + 1 - chunk) / 2 + 1 &&
          (chunk == 0 || now[-1].forwards > now->forwards))
        return {stage_work::forward, chunk, now->forwards};
    }
    for (int const chunk : own) {
      counts const* const now = ended_.data() + chunk;
      if (now->weights < now->inputs) return {stage_work::weight_gradients, chunk, now->weights};
    }
    return {stage_work::forward, -1, 0};
  }

  constexpr bool end(int stage) {
    stage_op const& one = starts_.data()[stage];
    if (one.chunk < 0) return false;
    counts& now = ended_.data()[one.chunk];
    ++(one.work == stage_work::forward           ? now.forwards
       : one.work == stage_work::input_gradients ? now.inputs
                                                 : now.weights);
    table_.data()[stage].push_back(one);
    return true;
  }

  pipeline_shape of_;
  std::vector<counts> ended_;     ///< By chunk
  std::vector<stage_op> starts_;  ///< Computation of each stage in this unit of time
  std::vector<std::vector<stage_op>> table_;
};

}  // namespace redco::schedule::detail

namespace redco::schedule {

/// Returns the table of a pipeline. Requires that refusal_of(of) is empty.
///
///   table_of({pipeline_kind::one_f_one_b, 2, 3});
///   // stage 0: F0 F1 B0 F2 B1 B2, stage 1: F0 B0 F1 B1 F2 B2
constexpr pipeline_table table_of(pipeline_shape const& of) {
  pipeline_table all{of.micro_batches, {}, {}};
  for (int chunk = 0; chunk < of.chunks(); ++chunk) all.stage_of.push_back(of.stage_of(chunk));
  if (of.kind == pipeline_kind::v_half) {
    all.of_stage = detail::v_half_run(of).run();
    return all;
  }
  for (int stage = 0; stage < of.stages; ++stage) {
    switch (of.kind) {
      case pipeline_kind::gpipe:
        all.of_stage.push_back(detail::alternating(
            of.micro_batches, of.micro_batches, [stage](int, bool) { return stage; }, [](int k) { return k; }));
        break;
      case pipeline_kind::interleaved: all.of_stage.push_back(detail::interleaved(of, stage)); break;
      case pipeline_kind::zb_h1: all.of_stage.push_back(detail::zb_h1(of.stages, stage, of.micro_batches)); break;
      default: all.of_stage.push_back(detail::one_f_one_b(of.stages, stage, of.micro_batches));
    }
  }
  return all;
}

}  // namespace redco::schedule
